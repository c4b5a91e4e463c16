import type { Json, JsonObject } from "../api/types";

/** Shows a JSON object as names and values. Objects and lists of objects open and close. */
export function ValueTree({ value }: { value: JsonObject }) {
  const names = Object.keys(value);
  if (names.length === 0) return <p className="hint">No values.</p>;
  return (
    <ul className="value-tree">
      {names.map((name) => (
        <Member key={name} name={name} value={value[name] as Json} />
      ))}
    </ul>
  );
}

function Member({ name, value }: { name: string; value: Json }) {
  const parts = partsOf(value);
  if (!parts) {
    return (
      <li>
        <span className="member">{name}</span> <code>{textOf(value)}</code>
      </li>
    );
  }
  return (
    <li>
      <details open>
        <summary>
          <span className="member">{name}</span>
        </summary>
        <ValueTree value={parts} />
      </details>
    </li>
  );
}

/** Returns the members of a value with structure, and nothing for a value that fits one line. */
function partsOf(value: Json): JsonObject | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) return Object.keys(value).length > 0 ? value : undefined;
  const isFlat = value.every((element) => typeof element !== "object" || element === null);
  return isFlat ? undefined : Object.fromEntries(value.map((element, index) => [`${index}`, element]));
}

function textOf(value: Json): string {
  if (typeof value === "string" && value !== "") return value;
  return Array.isArray(value) && value.length > 0 ? value.map(textOf).join(", ") : JSON.stringify(value);
}
