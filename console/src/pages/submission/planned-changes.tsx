import type { PlannedChange, Preview } from "../../api/reverts";
import { divideWhole, oldName } from "../../lib/differences";
import { links } from "../../lib/links";
import { plural } from "../../lib/plural";
import { Causes } from "../../ui/causes";
import { DifferenceList, unchangedText } from "../../ui/differences";
import { LongList } from "../../ui/long-list";
import { TypeBadge } from "../../ui/state-badge";

const SHORT = 50;

/** Lists the effects of a preview: metadata, then changes with their differences. */
export function PlannedChanges({ preview: { metadata, change_instances: changes } }: { preview: Preview }) {
  return (
    <LongList rows={changes} most={SHORT} noun="changes">
      {(shown) => (
        <ul className="change-list" aria-label="Planned changes">
          {metadata.map(({ application, differences }) => (
            <li key={application ?? ""} className="card">
              <p className="facts">
                <strong>{application === null ? "Metadata of the team" : `Metadata of the application ${application}`}</strong>
              </p>
              <DifferenceList differences={divideWhole(differences)} emptyText="" />
            </li>
          ))}
          {shown.map((change) => (
            <Change key={keyOf(change)} change={change} />
          ))}
        </ul>
      )}
    </LongList>
  );
}

function Change({ change }: { change: PlannedChange }) {
  const { service_item: item, application, service, owner, closes, cost_per_change: fee, monthly_cost: price } = change;
  const old = oldName(change.differences);
  return (
    <li className="card">
      <p className="facts">
        <TypeBadge type={change.change_type} />
        <span className="item-name">
          <span className="hint">
            {application.name} / {service.name} /{" "}
          </span>
          {item.id === null ? <strong>{item.name}</strong> : <a href={links.item(item.id)}>{item.name}</a>}
        </span>
        {old !== undefined && <span>Renamed from {old}.</span>}
        <span>
          by <strong>{owner.name}</strong>
        </span>
        {closes.length > 0 && <span>Closes {plural(closes.length, "open change")}.</span>}
        {fee > 0 && <span>Fee {fee}.</span>}
        {price > 0 && <span>Monthly price {price}.</span>}
      </p>
      <Causes change={change} />
      <DifferenceList differences={divideWhole(change.differences)} emptyText={textWithoutDifferences(change)} />
    </li>
  );
}

/** Explains a planned change without differences. */
function textWithoutDifferences({ new_declaration: declaration, kind }: PlannedChange): string {
  if (!declaration) return "The item is removed.";
  return unchangedText({ kind });
}

function keyOf({ owner, application, service, service_item: item }: PlannedChange): string {
  return JSON.stringify([owner.id, application.name, service.id, item.name, item.id]);
}
