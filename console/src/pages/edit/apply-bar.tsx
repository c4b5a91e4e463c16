import { ErrorNote } from "../../ui/error-note";
import { Icon } from "../../ui/icon";
import { totalsText } from "./totals";
import type { ApplyState } from "./use-apply";
import type { PlanState } from "./use-plan";

type Props = {
  plan: PlanState;
  applying: ApplyState;
  /** Why Apply is impossible; absent if it is possible. */
  reason: string | undefined;
  message: string;
  onMessage: (message: string) => void;
  onApply: () => void;
};

/** Shows the totals of the plan next to the button that applies it. */
export function ApplyBar({ plan, applying, reason, message, onMessage, onApply }: Props) {
  return (
    <div className="apply-bar">
      {applying.error && <ErrorNote error={applying.error} />}
      {applying.isStale && (
        <p className="note warning" role="alert">
          <Icon name="warning" /> The plan changed before it was applied, and nothing was applied. Check the new plan and
          apply it again.
        </p>
      )}
      <div className="apply-row">
        <p role="status" className="totals">
          <strong>{plan.preview ? totalsText(plan.preview) : "No plan."}</strong> {reason && <span className="hint">{reason}</span>}
        </p>
        <label className="message">
          <span className="hidden">Message for the history</span>
          <input
            value={message}
            maxLength={500}
            placeholder="Message for the history (optional)"
            onChange={(event) => onMessage(event.target.value)}
          />
        </label>
        <button type="button" className="primary" disabled={reason !== undefined} aria-keyshortcuts="Control+Enter Meta+Enter" onClick={onApply}>
          {applying.isSending ? "Applying…" : "Apply"}
        </button>
      </div>
    </div>
  );
}

/** Returns why a plan cannot be applied now. */
export function reasonAgainst(plan: PlanState, isTextValid: boolean, role: string | undefined, applying: ApplyState) {
  if (role === "READ_ONLY" || applying.isForbidden) return "Your key may only read. Apply needs the role GENERAL or ADMIN.";
  if (applying.isSending) return "The submission is on its way.";
  if (!isTextValid) return "The text is not valid.";
  if (!plan.isCurrent) return "The plan follows.";
  if (!plan.preview) return "The declaration has problems.";
  if (!plan.preview.changed) return "There is nothing to apply.";
  if (plan.preview.plan === null) return "An earlier submission has pending work. The plan follows it.";
  return undefined;
}
