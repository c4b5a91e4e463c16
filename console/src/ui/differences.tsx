import type { ChangeInstance, Json } from "../api/types";
import { type Difference, differencesOf, hasDeclarations, isMask } from "../lib/differences";
import { LongList } from "./long-list";

const SHORT = 5;

/** Shows which fields a change adds, changes and removes. */
export function Differences({ change }: { change: ChangeInstance }) {
  if (!hasDeclarations(change)) return null;
  return <DifferenceList differences={differencesOf(change)} emptyText={unchangedText(change)} />;
}

/** Shows added, changed and removed fields. Long lists open on request. */
export function DifferenceList({ differences: all, emptyText = "" }: { differences: readonly Difference[]; emptyText?: string }) {
  if (all.length === 0) return <p className="hint">{emptyText}</p>;
  return (
    <LongList rows={all} most={SHORT} noun="fields" fewerText="Show fewer">
      {(shown) => (
        <ul className="differences" aria-label="Differences">
          {shown.map((difference) => (
            <Line key={`${difference.pointer} ${"old" in difference}`} difference={difference} />
          ))}
        </ul>
      )}
    </LongList>
  );
}

function Line({ difference }: { difference: Difference }) {
  const { pointer, old, new: value, secret } = difference;
  const isSecret = secret || (isMask(old) && isMask(value));
  const [sign, tone, word] = isSecret ? CHANGED : old === undefined ? ADDED : value === undefined ? REMOVED : CHANGED;
  return (
    <li className={tone}>
      <span className="sign" aria-hidden="true">
        {sign}
      </span>
      <span className="hidden">{word} </span>
      <code className="pointer">{pointer || "/"}</code> {isSecret ? "another secret" : <Values old={old} value={value} />}
    </li>
  );
}

function Values({ old, value }: { old: Json | undefined; value: Json | undefined }) {
  return (
    <>
      {old !== undefined && <Value value={old} isOld={value !== undefined} />}
      {old !== undefined && value !== undefined && (
        <>
          <span aria-hidden="true"> → </span>
          <span className="hidden"> to </span>
        </>
      )}
      {value !== undefined && <Value value={value} isOld={false} />}
    </>
  );
}

const ADDED = ["+", "added", "added"] as const;
const REMOVED = ["−", "removed", "removed"] as const;
const CHANGED = ["~", "changed", "changed"] as const;

function Value({ value, isOld }: { value: Json; isOld: boolean }) {
  const text = isMask(value) ? "(secret)" : JSON.stringify(value);
  return <code>{isOld ? <s>{text}</s> : text}</code>;
}

/** Explains a change without differences. */
export function unchangedText(change: Pick<ChangeInstance, "kind">): string {
  if (change.kind === "REFERENCED") return "The declaration is unchanged. A referenced item changed.";
  if (change.kind === "RETRY") return "The declaration is unchanged. This is a new attempt.";
  return "The declaration is unchanged.";
}
