const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns the age of a time in seconds. A clock that is behind gives 0. */
export function ageSeconds(time: string, now: number): number {
  return Math.max(0, (now - Date.parse(time)) / 1000);
}

/** Formats an age in its largest unit, for example `3 h`. */
export function formatAge(seconds: number): string {
  if (seconds < MINUTE) return "under 1 min";
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h`;
  const days = Math.floor(seconds / DAY);
  return days === 1 ? "1 day" : `${days} days`;
}

/** Formats the time of day for the reader's locale and time zone. */
export function formatClock(time: string): string {
  return new Date(time).toLocaleTimeString(undefined, { timeStyle: "short" });
}

/** Formats a time for the reader's locale and time zone. */
export function formatTime(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
