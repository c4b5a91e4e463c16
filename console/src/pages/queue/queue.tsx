import { useState } from "react";
import type { ChangeInstance, ChangeState } from "../../api/types";
import { plural } from "../../lib/plural";
import { readPreference, writePreference } from "../../lib/preferences";
import { useChanges } from "../../lib/use-changes";
import { useNow } from "../../lib/use-now";
import { Page } from "../../shell/page";
import { useRoute } from "../../shell/route";
import { ListStatus } from "../../ui/list-status";
import { Table } from "../../ui/table";
import { queueColumns } from "./columns";
import { DecisionDialog } from "./decision-dialog";
import { type Decision, DECISIONS, eligible } from "./decisions";
import { FilterBar, readFilters } from "./filters";
import { Help } from "./help";
import { Results } from "./results";
import { Toolbar } from "./toolbar";
import { type Answer, useBatch } from "./use-batch";
import { useSelection } from "./use-selection";
import { useServiceOptions } from "./use-service-options";
import { focusedRow, useRowFocus } from "./use-row-focus";
import { useShortcuts } from "./use-shortcuts";

const OPEN: ChangeState[] = ["PENDING", "APPROVED"];

type Pending = { decision: Decision; changes: ChangeInstance[] };

/** Lists the open changes of the team with their differences, and decides them one by one or in batches. */
export function Queue() {
  const filters = readFilters(useRoute().query);
  const states = filters.state ? [filters.state] : OPEN;
  const list = useChanges({ role: "serviceowner", states, serviceId: filters.service });
  const rows = list.rows.filter((change) => states.includes(change.state));
  const services = useServiceOptions(list.rows);
  const selection = useSelection();
  const selected = rows.filter((change) => selection.ids.has(change.id));
  const now = useNow();
  const { batch, run, dismiss } = useBatch(list.replace);
  const [pending, setPending] = useState<Pending | null>(null);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [hasKeys, setKeys] = useKeys();
  const moveFocus = useRowFocus();

  const ask = (decision: Decision, changes: ChangeInstance[]) => {
    const fitting = eligible(decision, changes);
    if (fitting.length > 0 && !batch?.isRunning) setPending({ decision, changes: fitting });
  };
  const confirm = async (answer: Answer) => {
    if (!pending) return;
    setPending(null);
    // Selected changes in another state stay selected for their own decision.
    selection.remove(pending.changes.map((change) => change.id));
    const failed = await run(pending.decision, pending.changes, answer);
    selection.add(failed);
    await list.refresh();
  };
  useShortcuts(
    {
      j: () => moveFocus(1),
      k: () => moveFocus(-1),
      x: () => toggleFocused(selection.toggle),
      "?": () => setHelpOpen(true),
      ...Object.fromEntries(DECISIONS.map((decision) => [decision.key, () => ask(decision, targets(rows, selected))])),
    },
    hasKeys,
  );

  return (
    <Page title="Queue">
      <FilterBar filters={filters} services={services} />
      <Toolbar selected={selected} isBusy={batch?.isRunning ?? false} onDecide={ask} onHelp={() => setHelpOpen(true)} />
      {batch && <Results batch={batch} onDismiss={dismiss} />}
      <ListStatus list={{ ...list, rows }} emptyText="No change waits for your team." />
      {rows.length > 0 && (
        <Table
          caption="Open changes"
          columns={queueColumns(rows, selection, now)}
          rows={rows}
          rowKey={(change) => change.id}
          isSelected={(change) => selection.ids.has(change.id)}
        />
      )}
      {list.hasMore && (
        <p>
          {plural(rows.length, "change")} shown.{" "}
          <button type="button" onClick={list.loadMore}>
            Show more
          </button>
        </p>
      )}
      {pending && <DecisionDialog {...pending} onConfirm={confirm} onClose={() => setPending(null)} />}
      {isHelpOpen && <Help isEnabled={hasKeys} onEnable={setKeys} onClose={() => setHelpOpen(false)} />}
    </Page>
  );
}

/** Returns the selected changes, or the change with the focus. */
function targets(rows: ChangeInstance[], selected: ChangeInstance[]): ChangeInstance[] {
  return selected.length > 0 ? selected : rows.filter((change) => change.id === focusedRow());
}

function toggleFocused(toggle: (id: number) => void) {
  const id = focusedRow();
  if (id !== null) toggle(id);
}

function useKeys(): [boolean, (isEnabled: boolean) => void] {
  const [isEnabled, setEnabled] = useState(() => readPreference("keys") !== "off");
  const change = (next: boolean) => {
    setEnabled(next);
    writePreference("keys", next ? "on" : "off");
  };
  return [isEnabled, change];
}
