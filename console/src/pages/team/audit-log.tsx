import { useState } from "react";
import type { AuditEntry } from "../../api/team";
import { formatTime } from "../../lib/age";
import { useSession } from "../../session/session";
import { ErrorNote } from "../../ui/error-note";
import { SelectFilter } from "../../ui/filters";
import { type Column, Table } from "../../ui/table";
import { AdminStatus } from "./admin-status";
import { detailText, eventText, type Subject, SUBJECTS, subjectName } from "./audit-words";
import { useAuditLog } from "./use-audit-log";

/** Shows who changed what for the team, the newest entries first. */
export function AuditLog() {
  const list = useAuditLog();
  const [subject, setSubject] = useState<Subject | "">("");
  const rows = list.rows.filter((entry) => subject === "" || entry[subject] !== null);
  return (
    <>
      <AdminStatus resource={list.first} what="The audit log needs" />
      {list.first.data && (
        <>
          <div className="filters">
            <SelectFilter label="Show" value={subject} options={SUBJECT_OPTIONS} onChange={setSubject} />
            <span role="status" className="hint">
              {countText(rows.length, list.rows.length, list.hasMore)}
            </span>
          </div>
          {rows.length > 0 && <Table caption="Audit log" columns={COLUMNS} rows={rows} rowKey={(entry) => list.rows.indexOf(entry)} />}
          {list.error && <ErrorNote error={list.error} onRetry={list.loadMore} />}
          {list.hasMore && (
            <button type="button" disabled={list.isBusy} onClick={list.loadMore}>
              Show older entries
            </button>
          )}
        </>
      )}
    </>
  );
}

const SUBJECT_OPTIONS = [{ value: "", text: "all entries" }, ...SUBJECTS] as const;

function countText(shown: number, loaded: number, hasMore: boolean): string {
  const of = shown === loaded ? "" : ` of ${loaded}`;
  return `${shown}${of} ${loaded === 1 ? "entry" : "entries"}${hasMore ? ", older ones exist" : ""}`;
}

const COLUMNS: Column<AuditEntry>[] = [
  { id: "time", header: "Time", cell: (entry) => <time dateTime={entry.at}>{formatTime(entry.at)}</time> },
  { id: "event", header: "Event", cell: (entry) => <strong>{eventText(entry.event)}</strong> },
  { id: "subject", header: "Object", label: "Object", cell: subjectName },
  { id: "detail", header: "After the change", label: "After", cell: detailText },
  { id: "actor", header: "By", label: "By", cell: (entry) => <Actor entry={entry} /> },
  { id: "request", header: "Request", label: "Request", cell: (entry) => <code>{entry.request}</code> },
];

function Actor({ entry }: { entry: AuditEntry }) {
  const { team } = useSession();
  const isForeign = entry.changed_by_team_id !== null && entry.changed_by_team_id !== team?.id;
  return (
    <>
      {entry.changed_by}
      {isForeign && <span className="hint"> {entry.changed_by_team}</span>}
    </>
  );
}
