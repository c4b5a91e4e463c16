import { ageSeconds, formatAge, formatTime } from "../lib/age";

/** Shows how long ago something was, with the exact time as a hint. */
export function Age({ time, now }: { time: string; now: number }) {
  return (
    <time dateTime={time} title={formatTime(time)} className="age">
      {formatAge(ageSeconds(time, now))}
    </time>
  );
}
