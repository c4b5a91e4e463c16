import { type FormEvent, useState } from "react";
import type { ChangeInstance, JsonObject } from "../../api/types";
import { plural } from "../../lib/plural";
import { Dialog } from "../../ui/dialog";
import { ItemName } from "../../ui/item-name";
import type { Decision } from "./decisions";
import type { Answer } from "./use-batch";

type Props = {
  decision: Decision;
  changes: ChangeInstance[];
  onConfirm: (answer: Answer) => void;
  onClose: () => void;
};

const LISTED = 5;

/** Asks for the text and the deployed item of a decision, and confirms it. */
export function DecisionDialog({ decision, changes, onConfirm, onClose }: Props) {
  const [log, setLog] = useState("");
  const [json, setJson] = useState("");
  const [problem, setProblem] = useState("");
  const isRequired = decision.text === "required";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const deployedItem = parseItem(json);
    if (deployedItem === undefined) return setProblem("The deployed item must be a JSON object.");
    onConfirm({ log: log.trim(), deployedItem });
  };
  const title = `${decision.verb}: ${plural(changes.length, "change")}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        <Summary changes={changes} />
        <label htmlFor="log">{isRequired ? "Reason for the consumer" : "Text for the consumer (optional)"}</label>
        <textarea
          id="log"
          rows={3}
          maxLength={1000}
          required={isRequired}
          data-initial-focus={isRequired || undefined}
          value={log}
          onChange={(event) => setLog(event.target.value)}
        />
        {decision.takesItem && (
          <ItemField value={json} onChange={setJson} problem={problem} count={changes.length} />
        )}
        <div className="actions">
          <button type="submit" className="primary" data-initial-focus={!isRequired || undefined}>
            {decision.verb}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Summary({ changes }: { changes: ChangeInstance[] }) {
  return (
    <ul className="summary">
      {changes.slice(0, LISTED).map((change) => (
        <li key={change.id}>
          <ItemName change={change} />
        </li>
      ))}
      {changes.length > LISTED && <li>and {changes.length - LISTED} more</li>}
    </ul>
  );
}

type ItemFieldProps = { value: string; onChange: (value: string) => void; problem: string; count: number };

function ItemField({ value, onChange, problem, count }: ItemFieldProps) {
  return (
    <>
      <label htmlFor="deployed">Deployed item as JSON (optional)</label>
      <textarea
        id="deployed"
        className="code"
        rows={4}
        spellCheck={false}
        placeholder='{"ip": "10.0.0.7"}'
        value={value}
        aria-invalid={problem !== ""}
        aria-describedby="deployed-hint"
        onChange={(event) => onChange(event.target.value)}
      />
      <p id="deployed-hint" className={problem ? "field-error" : "hint"}>
        {problem || (count > 1 ? `Each of the ${count} items gets this data.` : "Your record of the item.")}
      </p>
    </>
  );
}

/** Returns null for an empty text, and undefined for a text that is not a JSON object. */
function parseItem(text: string): JsonObject | null | undefined {
  if (!text.trim()) return null;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
