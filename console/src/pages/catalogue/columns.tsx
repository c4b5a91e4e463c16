import type { ServiceHealth } from "../../api/service-health";
import type { Role, Service } from "../../api/types";
import { descriptionOf } from "../../lib/definition";
import { links } from "../../lib/links";
import { HealthBadge } from "../../ui/health-of-service";
import { ServiceState } from "../../ui/service-state";
import type { Column } from "../../ui/table";

type Health = ReadonlyMap<number, ServiceHealth | null> | null;

/** Returns the columns of the catalogue. Only owners read the health of a whole service. */
export function catalogueColumns(role: Role, health: Health): Column<Service>[] {
  const columns: Column<Service>[] = [
    { id: "service", header: "Service", cell: (service) => <Name service={service} /> },
    { id: "team", header: "Owner", label: "Owner", cell: (service) => service.owner.name },
    { id: "tags", header: "Tags", label: "Tags", cell: (service) => service.tags.join(", ") || "None" },
    { id: "approval", header: "Approval", label: "Approval", cell: (service) => approvalText(service) },
    { id: "state", header: "State", cell: (service) => <ServiceState state={service.state} /> },
  ];
  if (role !== "serviceowner") return columns;
  return [...columns, { id: "health", header: "Health", label: "Health", cell: ({ id }) => <HealthBadge health={health?.get(id)} /> }];
}

function Name({ service }: { service: Service }) {
  return (
    <>
      <a href={links.service(service.id)}>
        <strong>{service.name}</strong>
      </a>
      <p className="hint">{descriptionOf(service)}</p>
    </>
  );
}

function approvalText(service: Service): string {
  return service.approval_required ? "By the owner" : "Automatic";
}
