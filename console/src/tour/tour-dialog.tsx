import { Dialog } from "../ui/dialog";
import { type Step, STEPS } from "./steps";

type Props = {
  step: number;
  onStep: (step: number) => void;
  onVisit: (step: Step) => void;
  onFinish: () => void;
  onClose: () => void;
};

/** Shows one step of the tour, with a link to its page. Escape closes the dialog, and the note stays. */
export function TourDialog({ step, onStep, onVisit, onFinish, onClose }: Props) {
  const shown = STEPS[step] as Step;
  const isLast = step === STEPS.length - 1;
  return (
    <Dialog title={`Tour: step ${step + 1} of ${STEPS.length}`} onClose={onClose}>
      <div aria-live="polite">
        <h3>{shown.title}</h3>
        <p>{shown.text}</p>
      </div>
      <p>
        <a
          href={shown.link}
          onClick={(event) => {
            event.preventDefault();
            onVisit(shown);
          }}
        >
          {shown.linkText}
        </a>
      </p>
      <div className="actions">
        <button type="button" className="primary" data-initial-focus onClick={() => (isLast ? onFinish() : onStep(step + 1))}>
          {isLast ? "Finish" : "Next"}
        </button>
        <button type="button" disabled={step === 0} onClick={() => onStep(step - 1)}>
          Back
        </button>
        <button type="button" className="quiet" onClick={onFinish}>
          End the tour
        </button>
      </div>
    </Dialog>
  );
}
