import type { Application } from "../../api/applications";
import { links } from "../../lib/links";
import { plural } from "../../lib/plural";
import { Age } from "../../ui/age";
import type { Column } from "../../ui/table";
import { ApplicationBadge } from "../application/badges";
import { StateCounts } from "../application/state-counts";

/** Returns the columns of the list of applications. */
export function applicationColumns(now: number): Column<Application>[] {
  return [
    { id: "name", header: "Application", cell: (row) => <NameCell application={row} /> },
    { id: "state", header: "State", cell: (row) => <ApplicationBadge application={row} /> },
    { id: "items", header: "Items", label: "Items", cell: (row) => <ItemsCell application={row} /> },
    { id: "open", header: "Open changes", label: "Open changes", cell: (row) => <StateCounts application={row} /> },
    { id: "age", header: "Changed", label: "Changed", cell: (row) => <Age time={row.modified} now={now} /> },
  ];
}

function NameCell({ application }: { application: Application }) {
  return (
    <a href={links.application(application.id)}>
      <strong>{application.name}</strong>
    </a>
  );
}

function ItemsCell({ application }: { application: Application }) {
  const states = application.runtime_states;
  if (!states) return application.retired ? "–" : "over 10,000";
  const total = states.REQUESTED + states.IN_SERVICE + states.DECOMMISSIONED;
  return `${plural(total, "item")}, ${states.IN_SERVICE} in service`;
}
