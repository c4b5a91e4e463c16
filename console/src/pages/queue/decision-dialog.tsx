import { useRef, useState } from "react";
import type { ChangeInstance, JsonObject } from "../../api/types";
import { leasesText } from "../../lib/claims";
import { parseObject } from "../../lib/parse-json";
import { plural } from "../../lib/plural";
import { useNow } from "../../lib/use-now";
import { FormDialog } from "../../ui/form-dialog";
import { ItemName } from "../../ui/item-name";
import { type Decision, endsWork } from "./decisions";
import { ItemField } from "./item-field";
import type { Answer } from "./send-decision";

type Props = {
  decision: Decision;
  changes: ChangeInstance[];
  /** The answer of an earlier attempt, so that a rejected text can be corrected. */
  draft: Answer | null;
  onConfirm: (answer: Answer) => void;
  onClose: () => void;
};

const LISTED = 5;

/** Asks for the text and the deployed item of a decision, and confirms it. */
export function DecisionDialog({ decision, changes, draft, onConfirm, onClose }: Props) {
  const [log, setLog] = useState(draft?.log ?? "");
  const [json, setJson] = useState(draft?.deployedItem ? JSON.stringify(draft.deployedItem, null, 2) : "");
  const [problem, setProblem] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const isRequired = decision.text === "required";

  const submit = (): "invalid" | undefined => {
    let deployedItem: JsonObject | null = null;
    if (json.trim()) {
      const parsed = parseObject(json);
      if ("problem" in parsed) {
        setProblem(`The deployed item ${parsed.problem}.`);
        field.current?.focus();
        if (parsed.position !== undefined) field.current?.setSelectionRange(parsed.position, parsed.position + 1);
        return "invalid";
      }
      deployedItem = parsed.object;
    }
    onConfirm({ log: log.trim(), deployedItem });
  };

  return (
    <FormDialog
      title={`${decision.verb}: ${plural(changes.length, "change")}`}
      verb={decision.verb}
      isVerbFocused={!isRequired}
      onSubmit={submit}
      onClose={onClose}
    >
      <Summary changes={changes} />
      {endsWork(decision) && <Leases changes={changes} />}
      {decision.text === "none" ? (
        <p>The system opens a new attempt, and closes the old change. The consumer does nothing.</p>
      ) : (
        <LogField value={log} isRequired={isRequired} onChange={setLog} />
      )}
      {decision.takesItem && <ItemField ref={field} value={json} onChange={setJson} problem={problem} changes={changes} />}
    </FormDialog>
  );
}

/** Names the workers that a decision would interrupt. A person may decide without a claim. */
function Leases({ changes }: { changes: ChangeInstance[] }) {
  const text = leasesText(changes, useNow());
  return text && <p className="note">{text}</p>;
}

type LogFieldProps = { value: string; isRequired: boolean; onChange: (value: string) => void };

function LogField({ value, isRequired, onChange }: LogFieldProps) {
  return (
    <>
      <label htmlFor="log">{isRequired ? "Reason for the consumer" : "Text for the consumer (optional)"}</label>
      <textarea
        id="log"
        rows={3}
        maxLength={1000}
        required={isRequired}
        data-initial-focus={isRequired || undefined}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </>
  );
}

function Summary({ changes }: { changes: ChangeInstance[] }) {
  return (
    <ul className="summary">
      {changes.slice(0, LISTED).map((change) => (
        <li key={change.id}>
          <ItemName change={change} hasLinks={false} />
        </li>
      ))}
      {changes.length > LISTED && <li>and {changes.length - LISTED} more</li>}
    </ul>
  );
}
