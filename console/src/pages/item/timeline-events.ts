import type { DeployedItem, HistoryEntry } from "../../api/service-items";
import type { ChangeInstance } from "../../api/types";

export type ChangeEvent = { kind: "state" | "log"; key: string; time: string; change: ChangeInstance; entry: HistoryEntry };
export type VersionEvent = { kind: "version"; key: string; time: string; version: DeployedItem };
export type TimelineEvent = ChangeEvent | VersionEvent;
export type ChangeHistory = { change: ChangeInstance; entries: HistoryEntry[] };

/** Joins the histories of changes with the deployed versions, the newest event first. */
export function timelineEvents(histories: ChangeHistory[], versions: DeployedItem[], isWhole: boolean): TimelineEvent[] {
  const changes = histories.flatMap(({ change, entries }) =>
    // The API lists the newest entry first. The sort keeps this order for equal times.
    entries.map((entry): TimelineEvent => ({
      kind: entry.reason,
      key: `${change.id} ${entry.sequence}`,
      time: entry.modified,
      change,
      entry,
    })),
  );
  const oldest = changes.map((event) => event.time).sort()[0] ?? "";
  // Versions before the oldest change of the list come with the older changes.
  const shown = versions.filter((version) => isWhole || version.created >= oldest);
  const recorded = shown.map((version): TimelineEvent => ({
    kind: "version",
    key: `version ${version.id}`,
    time: version.created,
    version,
  }));
  return [...changes, ...recorded].sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0));
}

/** Returns the distinct times of events, the oldest first. */
export function timesOf(events: readonly TimelineEvent[]): string[] {
  return [...new Set(events.map((event) => event.time))].sort();
}
