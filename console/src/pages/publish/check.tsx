import { plural } from "../../lib/plural";
import { ErrorNote } from "../../ui/error-note";
import { Icon } from "../../ui/icon";
import { FailingItems } from "./failing-items";
import type { CheckResult, Impact } from "./use-dry-run";

type Props = { check: CheckResult | null; isCurrent: boolean; onRetry: () => void };

/** Shows the result of the dry run: errors of the definition, or the items that would break. */
export function Check({ check, isCurrent, onRetry }: Props) {
  return (
    <>
      <p role="status" className="hint">
        {isCurrent ? "The check is up to date." : "Checking…"}
      </p>
      {/* Problems of an earlier text would point to wrong places. */}
      {check?.error && isCurrent && <ErrorNote error={check.error} {...(check.error.status === 0 && { onRetry })} />}
      {check?.impact && <ImpactOf impact={check.impact} />}
    </>
  );
}

function ImpactOf({ impact }: { impact: Impact }) {
  const failing = impact.teams.reduce((sum, team) => sum + team.items.length, 0);
  return (
    <>
      {impact.warnings.map((warning) => (
        <p key={warning} className="note">
          <Icon name="warning" /> {warning}
        </p>
      ))}
      <p className={failing > 0 ? "impact bad" : "impact good"}>
        <Icon name={failing > 0 ? "warning" : "done"} /> {impactText(failing, impact.checked)}
      </p>
      {failing > 0 && <p className="hint">These items stay valid until their consumer changes them.</p>}
      {impact.teams.map((team) => (
        <section key={team.id} className="group" aria-label={team.name}>
          <h3>{team.name}</h3>
          <FailingItems items={team.items} />
        </section>
      ))}
      {impact.deployed.length > 0 && (
        <section className="group" aria-label="Deployed items">
          <h3>Deployed items that cannot be carried over</h3>
          <p className="hint">You send the whole item with its next change.</p>
          <FailingItems items={impact.deployed} />
        </section>
      )}
    </>
  );
}

function impactText(failing: number, checked: number): string {
  if (checked === 0) return "The definition is valid. No item is declared.";
  if (failing === 0) return `The definition is valid and fits ${plural(checked, "declared item")}.`;
  return `The definition is valid, but would reject ${failing} of ${plural(checked, "declared item")}.`;
}
