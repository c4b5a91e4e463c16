import type { Ref } from "react";
import type { ChangeInstance } from "../../api/types";

type Props = {
  ref: Ref<HTMLTextAreaElement>;
  value: string;
  onChange: (value: string) => void;
  problem: string;
  changes: ChangeInstance[];
};

/** Asks for the deployed item as JSON, and names the properties that the owner has yet to fill. */
export function ItemField({ ref, value, onChange, problem, changes }: Props) {
  const unknown = [...new Set(changes.flatMap((change) => change.unknown ?? []))];
  return (
    <>
      <label htmlFor="deployed">Deployed item as JSON {unknown.length === 0 && "(optional)"}</label>
      <textarea
        id="deployed"
        ref={ref}
        className="code"
        rows={4}
        spellCheck={false}
        placeholder='{"ip": "10.0.0.7"}'
        value={value}
        aria-invalid={problem !== ""}
        aria-describedby="deployed-problem deployed-hint"
        onChange={(event) => onChange(event.target.value)}
      />
      <p id="deployed-problem" className="field-error" role="alert">
        {problem}
      </p>
      <p id="deployed-hint" className="hint">
        {changes.length > 1 ? `Each of the ${changes.length} items gets this data. ` : "Your record of the item. "}
        {unknown.length > 0 && (
          <>
            You fill: <code>{unknown.join(", ")}</code>
          </>
        )}
      </p>
    </>
  );
}
