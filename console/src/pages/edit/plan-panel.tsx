import type { ReactNode } from "react";
import type { PlannedChange, Preview } from "../../api/declaration";
import type { Difference } from "../../lib/differences";
import { plural } from "../../lib/plural";
import { DifferenceList } from "../../ui/differences";
import { ErrorNote } from "../../ui/error-note";
import { Icon } from "../../ui/icon";
import { LongList } from "../../ui/long-list";
import { PlanChange } from "./plan-change";
import { PlanProblems } from "./plan-problems";
import type { LocatedProblem } from "./problems";
import { type Rename, renameIn } from "./renames";
import { directChanges, pricesText } from "./totals";
import type { PlanState } from "./use-plan";

type Props = {
  plan: PlanState;
  problems: LocatedProblem[];
  isNew: boolean;
  onSelect: (problem: LocatedProblem) => void;
  /** Adds a rename to the text. */
  onRename: (rename: Rename) => void;
};

/** Shows the effects of the declaration, or why it has none. */
export function PlanPanel({ plan, problems, isNew, onSelect, onRename }: Props) {
  return (
    <section aria-label="Plan" className="plan" aria-busy={!plan.isCurrent}>
      <h2>Plan</h2>
      {plan.error?.problems.length === 0 && <ErrorNote error={plan.error} onRetry={plan.refresh} />}
      {problems.length > 0 && <PlanProblems problems={problems} onSelect={onSelect} />}
      {plan.preview && <Effects preview={plan.preview} isNew={isNew} isCurrent={plan.isCurrent} onRename={onRename} />}
      {!plan.preview && !plan.error && <p role="status">The plan loads.</p>}
    </section>
  );
}

type EffectsProps = Pick<Props, "isNew" | "onRename"> & { preview: Preview; isCurrent: boolean };

function Effects({ preview, isNew, isCurrent, onRename }: EffectsProps) {
  const direct = directChanges(preview);
  const others = preview.change_instances.filter((change) => change.kind !== "DIRECT");
  const prices = pricesText(preview.change_instances);
  const isEmpty = preview.changed && preview.change_instances.length === 0 && preview.metadata.length === 0;
  const exists = isNew && preview.change_instances.some((change) => change.application.id !== null);
  return (
    <>
      {exists && <Warning text="An application with this name exists. The plan changes it." />}
      {preview.warnings.map((text) => (
        <Warning key={text} text={text}>
          <KeepButton rename={renameIn(text)} isCurrent={isCurrent} onRename={onRename} />
        </Warning>
      ))}
      {preview.messages.map((message) => (
        <p key={message.id} className="note">
          {message.owner.name}: {message.description}
        </p>
      ))}
      {!preview.changed && <p className="empty">The declaration is the stored one. There is nothing to apply.</p>}
      {isEmpty && <p className="empty">{isNew ? "The plan creates the application without items." : "The plan changes no item."}</p>}
      {preview.metadata.map(({ application, differences }) => (
        <div key={application ?? ""} className="plan-change">
          <p>{application === null ? "Metadata of the team" : `Metadata of ${application}`}</p>
          <DifferenceList differences={differences as Difference[]} />
        </div>
      ))}
      <ChangeList changes={direct} label="Changes of your items" />
      {others.length > 0 && (
        <>
          <h3>{plural(others.length, "more change")} for dependent teams and references</h3>
          <ChangeList changes={others} label="Changes for dependent teams and references" />
        </>
      )}
      {prices && <p>Prices of these changes: {prices}.</p>}
    </>
  );
}

const SHORT = 50;

function ChangeList({ changes, label }: { changes: PlannedChange[]; label: string }) {
  if (changes.length === 0) return null;
  return (
    <LongList rows={changes} most={SHORT} noun="changes" fewerText="Show fewer changes">
      {(shown) => (
        <ul aria-label={label} className="plan-changes">
          {shown.map((change) => (
            <PlanChange key={`${change.service.id} ${change.service_item.name} ${change.owner.id}`} change={change} />
          ))}
        </ul>
      )}
    </LongList>
  );
}

function Warning({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <p className="note warning">
      <Icon name="warning" /> {text} {children}
    </p>
  );
}

type KeepProps = Pick<EffectsProps, "isCurrent" | "onRename"> & { rename: Rename | undefined };

/** Declares that a new item is an earlier one with another name. An outdated plan may belong to another text. */
function KeepButton({ rename, isCurrent, onRename }: KeepProps) {
  if (!rename) return null;
  return (
    <button type="button" disabled={!isCurrent} onClick={() => onRename(rename)}>
      Keep the item<span className="hidden"> {rename.old}</span>
    </button>
  );
}
