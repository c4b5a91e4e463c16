import type { ItemReference, ServiceItem } from "../../api/service-items";
import {
  hasValues,
  type Home,
  ReferenceBadges,
  ReferencedItem,
  ReferenceProperty,
  ReferenceValues,
  referenceKey,
} from "../../ui/reference-parts";
import { type Column, Table } from "../../ui/table";

/** Lists the items to which an item refers, also those of other applications and teams. */
export function RefersTo({ item }: { item: ServiceItem }) {
  const { references = [], application, consumer_team: team } = item;
  return (
    <section aria-labelledby="refers">
      <h2 id="refers">Refers to</h2>
      {references.length === 0 ? (
        <p className="empty">It refers to no item.</p>
      ) : (
        <Table
          caption="Referenced items"
          columns={columnsFor({ application: application.name, team: team.name })}
          rows={references}
          rowKey={referenceKey}
          details={(reference) => (hasValues(reference) ? <ReferenceValues reference={reference} /> : null)}
        />
      )}
    </section>
  );
}

function columnsFor(home: Home): Column<ItemReference>[] {
  return [
    { id: "property", header: "Property", label: "Property", cell: (row) => <ReferenceProperty reference={row} /> },
    { id: "item", header: "Item", label: "Item", cell: (row) => <ReferencedItem reference={row} home={home} /> },
    { id: "states", header: "State", cell: (row) => <ReferenceBadges reference={row} /> },
  ];
}
