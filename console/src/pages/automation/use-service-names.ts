import { useCallback } from "react";
import { listServiceNames, type ServiceName, type ServiceScope } from "../../api/service-names";
import type { Role } from "../../api/types";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";

export type ServiceNames = { services: ServiceName[]; nameOf: (id: number) => string };

/** Returns the services that a form may name. Without a name, for example of a retired service, the id stands. */
export function useServiceNames(role: Role, scope: ServiceScope): ServiceNames {
  const api = useApi();
  const { data } = useResource(useCallback(() => listServiceNames(api, role, scope), [api, role, scope]));
  const services = data ?? [];
  const nameOf = (id: number) => services.find((service) => service.id === id)?.name ?? `service ${id}`;
  return { services, nameOf };
}
