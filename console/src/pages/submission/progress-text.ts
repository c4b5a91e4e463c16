import type { Submission } from "../../api/submissions";
import { plural } from "../../lib/plural";

/** Returns how many changes of a submission exist. */
export function progressText({ changed, landed, remaining }: Submission): string {
  if (!changed) return "The declaration had no differences.";
  if (remaining === 0) return landed === 1 ? "The only change exists." : `All ${landed} changes exist.`;
  return `${landed} of ${plural(landed + remaining, "change")} exist.`;
}
