import { type KeyboardEvent, useMemo, useState } from "react";
import { flushSync } from "react-dom";
import type { Service } from "../../api/types";
import type { Editor } from "../../editor/use-editor";
import { links } from "../../lib/links";
import { navigate } from "../../lib/route";
import { useSession } from "../../session/session";
import { ApplyBar, reasonAgainst } from "./apply-bar";
import { ConfirmRemoval } from "./confirm-removal";
import { bodyOf, nameOf } from "./content";
import { FormPanel } from "./form-panel";
import { PlanPanel } from "./plan-panel";
import { locateProblems } from "./problems";
import { type Rename, withRename } from "./renames";
import { TextPanel } from "./text-panel";
import { directChanges } from "./totals";
import { useApply } from "./use-apply";
import { useMarks } from "./use-marks";
import type { Opened } from "./use-opened";
import { usePlan } from "./use-plan";
import { useSelection } from "./use-selection";
import { useText } from "./use-text";
import { useUnsaved } from "./use-unsaved";

type Props = { editor: Editor; opened: Opened; services: Service[]; role: string | undefined; item: string | undefined };

/** Shows form, text and plan of one application, always in step. */
export function Workbench({ editor, opened, services, role, item }: Props) {
  const isNew = opened.fixedName === undefined;
  const team = useSession().team?.name ?? "";
  const state = useText(editor, opened.draft ?? opened.stored, opened);
  const selection = useSelection(editor, state, item);
  const unsaved = useUnsaved(editor, opened, state);
  const [message, setMessage] = useState("");
  const [isConfirming, setConfirming] = useState(false);

  const isValid = state.problem === undefined;
  const body = useMemo(
    () => (isValid ? JSON.stringify(bodyOf(team, state.valid.value)) : null),
    [isValid, state.valid, team],
  );
  const plan = usePlan(body);
  const problems = useMemo(
    () => locateProblems(editor, state.valid, plan.error),
    [editor, state.valid, plan.error],
  );
  const marks = useMarks(state.problem, problems);
  const applying = useApply(plan, message, (submission) => {
    // The guard must see the end of the edits before the address changes.
    flushSync(unsaved.finish);
    navigate(links.submission(submission));
  });

  const reason = unsaved.isDone ? "The plan is applied." : reasonAgainst(plan, isValid, role, applying);
  const removals = plan.preview ? directChanges(plan.preview).filter((change) => change.change_type === "DELETE") : [];
  const requestApply = () => {
    if (reason !== undefined || isConfirming) return;
    if (removals.length > 0) setConfirming(true);
    else void applying.apply();
  };
  const rename = (entry: Rename) => {
    const { value } = state.valid;
    state.edit([nameOf(value), "metadata"], withRename(value, entry));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    requestApply();
  };
  return (
    <div className="workbench" onKeyDown={onKeyDown}>
      {opened.draft && unsaved.isDirty && (
        <p className="note">
          Your unsaved edits are back.{" "}
          <button type="button" className="link" onClick={() => state.reset(opened.stored)}>
            Discard them
          </button>
        </p>
      )}
      <div className="panels">
        <FormPanel
          editor={editor}
          state={state}
          services={services}
          isNew={isNew}
          readOnly={!isValid}
          selected={selection.item}
          problems={problems}
          onSelect={selection.select}
        />
        <div className="text-and-plan">
          <TextPanel
            editor={editor}
            state={state}
            marks={marks}
            target={selection.target}
            onTarget={selection.setTarget}
            onCursor={selection.followCursor}
          />
          <PlanPanel plan={plan} problems={problems} isNew={isNew} onSelect={selection.selectProblem} onRename={rename} />
        </div>
      </div>
      <ApplyBar plan={plan} applying={applying} reason={reason} message={message} onMessage={setMessage} onApply={requestApply} />
      {isConfirming && (
        <ConfirmRemoval
          removals={removals}
          unconfirmed={plan.preview?.unconfirmed_removals ?? []}
          onConfirm={() => void applying.apply()}
          onClose={() => setConfirming(false)}
        />
      )}
    </div>
  );
}
