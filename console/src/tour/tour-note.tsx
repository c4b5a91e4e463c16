import { STEPS } from "./steps";

type Props = { step: number; hasStarted: boolean; onStart: () => void; onDismiss: () => void };

/** Offers the tour, or its next step, without covering the page. */
export function TourNote({ step, hasStarted, onStart, onDismiss }: Props) {
  return (
    <aside className="note tour-note" aria-label="Tour">
      <p>{hasStarted ? `Tour: step ${step + 1} of ${STEPS.length} is next.` : "New to Dovetail? A short tour has four steps."}</p>
      <div className="actions">
        <button type="button" onClick={onStart}>
          {hasStarted ? "Continue the tour" : "Start the tour"}
        </button>
        <button type="button" className="quiet" onClick={onDismiss}>
          {hasStarted ? "End the tour" : "No, thanks"}
        </button>
      </div>
    </aside>
  );
}
