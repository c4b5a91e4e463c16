import { type KeyboardEvent, useEffect, useMemo, useState } from "react";
import type { JsonObject, Service } from "../../api/types";
import { useApi, useSession } from "../../session/session";
import { useLeaveGuard } from "../../shell/leave-guard";
import { links } from "../../shell/links";
import { navigate } from "../../shell/route";
import type { Editor } from "../../lib/use-editor";
import { ApplyBar, reasonAgainst } from "./apply-bar";
import { ConfirmRemoval } from "./confirm-removal";
import { bodyOf, findItem, type ItemRef, itemOfPath, pathOfItem } from "./content";
import { writeDraft } from "./drafts";
import { FormPanel } from "./form-panel";
import { PlanPanel } from "./plan-panel";
import { type LocatedProblem, locateProblems } from "./problems";
import { type Target, TextPanel } from "./text-panel";
import { directChanges } from "./totals";
import { useApply } from "./use-apply";
import { textProblem, useMarks } from "./use-marks";
import { usePlan } from "./use-plan";
import { useText } from "./use-text";
import type { Opened } from "./use-opened";

const QUESTION = "Leave this page? Your edits are not applied. They stay as a draft until you sign out or close the tab.";

type Props = { editor: Editor; opened: Opened; services: Service[]; role: string | undefined; item: string | undefined };

/** Shows form, text and plan of one application, always in step. */
export function Workbench({ editor, opened, services, role, item }: Props) {
  const api = useApi();
  const team = useSession().team?.name ?? "";
  const state = useText(editor, opened.draft ?? opened.stored, opened.value);
  const [selected, setSelected] = useState<ItemRef | null>(() => (item ? findItem(state.valid.value, item) ?? null : null));
  const [target, setTarget] = useState<Target>();
  const [message, setMessage] = useState("");
  const [isConfirming, setConfirming] = useState(false);
  const [isDone, setDone] = useState(false);

  const problem = textProblem(editor, state, opened.fixedName);
  const body = useMemo(
    () => (state.parsed.isValid && !problem ? JSON.stringify(bodyOf(team, state.parsed.value)) : null),
    [state.parsed, problem?.detail, team],
  );
  const plan = usePlan(body);
  const problems = useMemo(
    () => (plan.body === body ? locateProblems(editor, state.valid, plan.error) : []),
    [editor, state.valid, plan.error, plan.body, body],
  );
  const marks = useMarks(problem, problems);
  const applying = useApply(plan, message, (submission) => {
    writeDraft(api, opened.key, undefined);
    setDone(true);
    // The guard must see the end of the edits before the address changes.
    setTimeout(() => navigate(links.submission(submission)));
  });

  const isDirty = !isDone && state.text !== opened.stored.text && !isFormatted(editor, opened, state.text);
  useLeaveGuard(isDirty ? QUESTION : null);
  useEffect(() => {
    if (!isDone) writeDraft(api, opened.key, isDirty ? { text: state.text, format: state.format } : undefined);
  }, [api, opened.key, isDirty, isDone, state.text, state.format]);

  const reason = isDone ? "The plan is applied." : reasonAgainst(plan, body !== null, role, applying.isSending);
  const removals = plan.preview ? directChanges(plan.preview).filter((change) => change.change_type === "DELETE") : [];
  const requestApply = () => {
    if (reason !== undefined || isConfirming) return;
    if (removals.length > 0) setConfirming(true);
    else void applying.apply();
  };
  const confirm = () => {
    setConfirming(false);
    void applying.apply();
  };
  const select = (next: ItemRef | null) => {
    setSelected(next);
    if (!next) return;
    const path = pathOfItem(state.valid.value, next).map(String);
    if (state.parsed.isValid) setTarget({ position: editor.findRange(state.parsed, path).from, isFocused: false });
  };
  const selectProblem = ({ item: ofItem, range }: LocatedProblem) => {
    if (ofItem) setSelected(ofItem);
    setTarget({ position: range.from, isFocused: true });
  };
  const followCursor = (position: number) => {
    const found = state.parsed.isValid && itemOfPath(editor.findPath(state.parsed, position));
    if (found) setSelected(found);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    requestApply();
  };
  return (
    <div className="workbench" onKeyDown={onKeyDown}>
      {opened.draft && isDirty && (
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
          isNew={opened.fixedName === undefined}
          readOnly={problem !== undefined}
          selected={selected}
          problems={problems}
          onSelect={select}
        />
        <TextPanel
          editor={editor}
          state={state}
          problem={problem}
          marks={marks}
          target={target}
          onTarget={setTarget}
          onCursor={followCursor}
        />
      </div>
      <PlanPanel plan={plan} problems={problems} isNew={opened.fixedName === undefined} onSelect={selectProblem} />
      <ApplyBar plan={plan} applying={applying} reason={reason} message={message} onMessage={setMessage} onApply={requestApply} />
      {isConfirming && <ConfirmRemoval removals={removals} onConfirm={confirm} onClose={() => setConfirming(false)} />}
    </div>
  );
}

/** Reports whether a text is the stored declaration in the other format. */
function isFormatted(editor: Editor, opened: Opened, text: string): boolean {
  return (["yaml", "json"] as const).some((format) => text === editor.formatValue(opened.value as JsonObject, format));
}
