import { useState } from "react";
import type { ChangeInstance } from "../../api/types";
import { readPreference, writePreference } from "../../lib/preferences";
import { useRoute } from "../../lib/route";
import { useChanges } from "../../lib/use-changes";
import { useNow } from "../../lib/use-now";
import { useCanWrite } from "../../session/access";
import { useApi } from "../../session/session";
import { Titles } from "../../ui/item-title";
import { ListStatus } from "../../ui/list-status";
import { Page } from "../../ui/page";
import { ShowMore } from "../../ui/show-more";
import { Table } from "../../ui/table";
import { queueColumns } from "./columns";
import { DecisionDialog } from "./decision-dialog";
import { type Decision, DECISIONS, decisionsFor, eligible } from "./decisions";
import { FilterBar, hasFilter, queryOf, readFilters, workerOf } from "./filters";
import { Help } from "./help";
import { Results } from "./results";
import type { Answer } from "./send-decision";
import { Toolbar } from "./toolbar";
import { useBatch } from "./use-batch";
import { useApplicationOptions, useServiceOptions, useWorkerOptions } from "./use-filter-options";
import { useQueueTitles } from "./use-queue-titles";
import { focusedRow, useRowFocus } from "./use-row-focus";
import { useSelection } from "./use-selection";
import { useShortcuts } from "./use-shortcuts";

type Pending = { decision: Decision; changes: ChangeInstance[]; draft: Answer | null };
type Draft = { decision: Decision; answer: Answer };

/** Lists the open changes of the team with their differences, and decides them one by one or in batches. */
export function Queue() {
  const api = useApi();
  const filters = readFilters(useRoute().query);
  const query = queryOf(filters);
  const { states } = query;
  const list = useChanges(api, { role: "serviceowner", claims: true, references: true, ...query });
  const rows = list.rows.filter((change) => states.includes(change.state));
  const services = useServiceOptions(list.rows);
  const applications = useApplicationOptions(list.rows, filters.application);
  const workers = useWorkerOptions(list.rows, workerOf(filters.claimed));
  const titles = useQueueTitles(list.rows);
  const canWrite = useCanWrite();
  const selection = useSelection();
  const selected = rows.filter((change) => selection.ids.has(change.id));
  const now = useNow();
  const { batch, run, dismiss } = useBatch(list.replace);
  const [pending, setPending] = useState<Pending | null>(null);
  const [failedDraft, setFailedDraft] = useState<Draft | null>(null);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [hasKeys, setKeys] = useKeys();
  const moveFocus = useRowFocus();

  const ask = (decision: Decision, changes: ChangeInstance[]) => {
    const fitting = eligible(decision, changes);
    const draft = failedDraft?.decision === decision ? failedDraft.answer : null;
    if (canWrite && fitting.length > 0 && !batch?.isRunning) setPending({ decision, changes: fitting, draft });
  };
  const confirm = async (answer: Answer) => {
    if (!pending) return;
    setPending(null);
    // Selected changes in another state stay selected for their own decision.
    selection.remove(pending.changes.map((change) => change.id));
    const failed = await run(pending.decision, pending.changes, answer);
    setFailedDraft(failed.length > 0 ? { decision: pending.decision, answer } : null);
    selection.add(failed);
    await list.refresh();
  };
  useShortcuts(
    {
      j: () => moveFocus(1),
      k: () => moveFocus(-1),
      x: () => canWrite && toggleFocused(selection.toggle),
      "?": () => setHelpOpen(true),
      ...Object.fromEntries(DECISIONS.map((decision) => [decision.key, () => ask(decision, targets(rows, selected))])),
    },
    hasKeys,
  );

  return (
    <Page title="Queue">
      <FilterBar filters={filters} services={services} applications={applications} workers={workers} />
      <Toolbar
        selected={selected}
        decisions={decisionsFor(states)}
        isBusy={batch?.isRunning ?? false}
        onDecide={ask}
        onHelp={() => setHelpOpen(true)}
      />
      <Titles value={titles}>
        {batch && <Results batch={batch} onDismiss={dismiss} />}
        <ListStatus list={{ ...list, rows }} emptyText={hasFilter(filters) ? "No change fits these filters." : "No change waits for your team."} />
        {rows.length > 0 && (
          <Table
            caption="Open changes"
            columns={queueColumns(rows, canWrite ? selection : null, now)}
            rows={rows}
            rowKey={(change) => change.id}
            isSelected={(change) => selection.ids.has(change.id)}
          />
        )}
        {list.hasMore && <ShowMore count={rows.length} noun="change" onMore={list.loadMore} />}
        {pending && <DecisionDialog {...pending} onConfirm={confirm} onClose={() => setPending(null)} />}
      </Titles>
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
