import type { JsonObject } from "../../api/types";

/** Explains the words at the root of a definition. */
export function WordsOfRoot({ definition }: { definition: JsonObject }) {
  const steps = Array.isArray(definition["x-upgrade"]) ? definition["x-upgrade"].length : 0;
  const isVerified = definition["x-verified"] === true;
  if (!isVerified && steps === 0) return null;
  return (
    <ul className="note">
      {isVerified && <li>Verified service: the owner sends whole items, and Dovetail compares them with the declaration.</li>}
      {steps > 0 && <li>Items of the previous version are carried over. Steps: {steps}.</li>}
    </ul>
  );
}
