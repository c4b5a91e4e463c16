import { formatTime } from "../../lib/age";

type Props = { times: string[]; time: string | null; onChange: (time: string | null) => void };

/** Selects one of the times, or the present at the right end. Arrow keys, Home and End move the slider. */
export function TimeSlider({ times, time, onChange }: Props) {
  const found = time === null ? times.length : times.indexOf(time);
  const index = found < 0 ? times.length : found;
  const move = (next: number) => onChange(times[next] ?? null);
  const text = time === null ? "Now" : formatTime(time);
  return (
    <div className="time-slider">
      <button type="button" disabled={index === 0} onClick={() => move(index - 1)}>
        Earlier
      </button>
      <input
        type="range"
        aria-label="State as of"
        aria-valuetext={text}
        min={0}
        max={times.length}
        step={1}
        value={index}
        onChange={(event) => move(Number(event.target.value))}
      />
      <button type="button" disabled={index === times.length} onClick={() => move(index + 1)}>
        Later
      </button>
      <output>
        {text}
        {time !== null && (
          <span className="hint">
            {" "}
            (time {index + 1} of {times.length})
          </span>
        )}
      </output>
    </div>
  );
}
