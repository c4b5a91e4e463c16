import type { JsonObject } from "../../api/types";

/** Explains the words at the root of a definition. */
export function WordsOfRoot({ definition }: { definition: JsonObject }) {
  const steps = Array.isArray(definition["x-upgrade"]) ? definition["x-upgrade"].length : 0;
  const isVerified = definition["x-verified"] === true;
  const isConfirmed = definition["x-confirm-removal"] === true;
  if (!isVerified && !isConfirmed && steps === 0) return null;
  return (
    <ul className="note">
      {isVerified && <li>Verified service: the owner sends whole items, and Dovetail compares them with the declaration.</li>}
      {isConfirmed && <li>Removals and replacements of items need a confirmation.</li>}
      {steps > 0 && <li>Items of the previous version are carried over. Steps: {steps}.</li>}
    </ul>
  );
}
