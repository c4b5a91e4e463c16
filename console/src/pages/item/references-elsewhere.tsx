import type { ReferenceElsewhere } from "../../api/service-items";
import { links } from "../../lib/links";
import { useSession } from "../../session/session";
import { type Column, Table } from "../../ui/table";
import { ReferenceBadges } from "./badges";

const UNDECLARED = "No longer declared: the next change of this item must name another one.";

const COLUMNS: Column<ReferenceElsewhere>[] = [
  { id: "property", header: "Property", label: "Property", cell: ({ pointer }) => (pointer ? <code>{pointer}</code> : "Unknown") },
  { id: "item", header: "Item", label: "Item", cell: (reference) => <Item reference={reference} /> },
  { id: "application", header: "Application", label: "Application", cell: ({ application }) => application },
  { id: "team", header: "Team", label: "Team", cell: ({ team }) => team },
  { id: "states", header: "State", cell: (reference) => <ReferenceBadges reference={reference} /> },
];

/** Lists the items of other applications and teams to which an item refers. */
export function ReferencesElsewhere({ references }: { references: ReferenceElsewhere[] }) {
  if (references.length === 0) return null;
  return (
    <section aria-labelledby="elsewhere">
      <h2 id="elsewhere">References to other applications</h2>
      <Table
        caption="References to items of other applications and teams"
        columns={COLUMNS}
        rows={references}
        rowKey={({ pointer, service_item: id }) => `${id} ${pointer}`}
      />
    </section>
  );
}

function Item({ reference }: { reference: ReferenceElsewhere }) {
  const { role } = useSession();
  const { service_item: id, service, name, declared } = reference;
  const text = name ?? `Item ${id}`;
  // A service owner sees only items of its own services.
  const hasLink = role === "consumer" && !isOfOtherTeam(reference);
  return (
    <>
      {service !== null && <span className="hint">{service} / </span>}
      {hasLink ? <a href={links.item(id)}>{text}</a> : text}
      {!declared && <p className="hint">{UNDECLARED}</p>}
    </>
  );
}

function isOfOtherTeam({ url }: ReferenceElsewhere): boolean {
  return new URL(url).searchParams.has("granted");
}
