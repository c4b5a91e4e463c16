import type { ChangeInstance } from "../../api/types";
import { leaseOf } from "../../lib/claims";
import { Age } from "../../ui/age";
import { Follows } from "../../ui/causes";
import { ChangeReferences } from "../../ui/change-references";
import { LeaseText } from "../../ui/claim-text";
import { Differences } from "../../ui/differences";
import { Icon } from "../../ui/icon";
import { ItemName } from "../../ui/item-name";
import { StateBadge, TypeBadge } from "../../ui/state-badge";
import type { Column } from "../../ui/table";
import { After } from "../../ui/waits";

type Selection = { ids: ReadonlySet<number>; toggle: (id: number) => void; replace: (ids: number[]) => void };

/** Defines the columns of the queue. A reader has no selection. */
export function queueColumns(rows: ChangeInstance[], selection: Selection | null, now: number): Column<ChangeInstance>[] {
  return [
    ...(selection ? [selectColumn(rows, selection)] : []),
    { id: "state", header: "State", cell: (change) => <StateBadge state={change.state} /> },
    { id: "item", header: "Change", cell: (change) => <ChangeCell change={change} now={now} /> },
    { id: "differences", header: "Differences", cell: (change) => <DifferencesCell change={change} /> },
    { id: "team", header: "Consumer", label: "Consumer", cell: (change) => change.consumer_team.name },
    { id: "age", header: "Age", label: "Age", cell: (change) => <Age time={change.created} now={now} /> },
  ];
}

function selectColumn(rows: ChangeInstance[], selection: Selection): Column<ChangeInstance> {
  return { id: "select", header: <SelectAll rows={rows} selection={selection} />, cell: (row) => selectBox(row, selection) };
}

function SelectAll({ rows, selection }: { rows: ChangeInstance[]; selection: Selection }) {
  const isAll = rows.length > 0 && rows.every((row) => selection.ids.has(row.id));
  const select = () => selection.replace(isAll ? [] : rows.map((row) => row.id));
  return <input type="checkbox" aria-label="Select all changes" checked={isAll} onChange={select} />;
}

function selectBox(change: ChangeInstance, selection: Selection) {
  const name = `${change.service_item.name}, ${change.service.name}, ${change.application.name}`;
  return (
    <input
      type="checkbox"
      aria-label={`Select ${name}`}
      checked={selection.ids.has(change.id)}
      onChange={() => selection.toggle(change.id)}
    />
  );
}

function ChangeCell({ change, now }: { change: ChangeInstance; now: number }) {
  const lease = leaseOf(change.claim, now);
  return (
    <>
      <TypeBadge type={change.change_type} /> <ItemName change={change} />
      {lease && (
        <p className="hint">
          <Icon name="work" /> <LeaseText lease={lease} />
        </p>
      )}
      {change.log && <blockquote className="log">{change.log}</blockquote>}
      <After change={change} />
      {kindText(change) && <p className="hint">{kindText(change)}</p>}
      <Follows change={change} />
      {change.replacement && <p className="hint">You create the item again after this removal.</p>}
      {change.unneeded && <p className="hint">What it asks for is in place.</p>}
    </>
  );
}

const KINDS: Record<Exclude<ChangeInstance["kind"], "DIRECT">, string> = {
  DEPENDENT: "Your team depends on this service.",
  REFERENCED: "A referenced item changed.",
  RETRY: "A new attempt.",
  REPLACEMENT: "The item was removed to be created again.",
};

/** Explains why a change exists that no consumer declared. The causes of a referenced one say more than its kind. */
function kindText({ kind, causes = [] }: ChangeInstance): string {
  if (kind === "DIRECT" || (kind === "REFERENCED" && causes.length > 0)) return "";
  return KINDS[kind];
}

function DifferencesCell({ change }: { change: ChangeInstance }) {
  const unknown = change.unknown ?? [];
  return (
    <>
      <Differences change={change} />
      {unknown.length > 0 && (
        <p className="hint">
          You fill: <code>{unknown.join(", ")}</code>
        </p>
      )}
      {change.supersedes.length > 0 && (
        <p className="hint">Replaces {change.supersedes.join(", ")}. Started work may need to be undone.</p>
      )}
      <ChangeReferences id={change.id} name={change.service_item.name} />
    </>
  );
}
