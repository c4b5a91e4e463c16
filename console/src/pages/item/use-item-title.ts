import type { ServiceItem } from "../../api/service-items";
import { titleOf } from "../../api/titles";
import { useTitledServices } from "../../lib/use-titles";
import { useApi, useSession } from "../../session/session";

/** Returns the title of an item, if the definition of its service derives one. */
export function useItemTitle(item: ServiceItem | null): string | undefined {
  const { role } = useSession();
  const titled = useTitledServices(useApi(), role, item ? [item.service] : []);
  return item && titled.includes(item.service.id) ? titleOf(item.document) : undefined;
}
