import type { ApiError } from "../api/errors";
import type { BrokenRule } from "../api/types";
import { leaseOf, leaseText } from "../lib/claims";
import { Icon } from "./icon";

/** Shows the text of an error, and each problem with its JSON pointer. */
export function ErrorNote({ error, onRetry }: { error: ApiError; onRetry?: () => void }) {
  return (
    <div className="note bad" role="alert">
      <p>
        <Icon name="warning" /> <ErrorText error={error} />
      </p>
      <ProblemList problems={error.problems} />
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Shows the text of an error with the place of the invalid field, or with the lease of another worker. */
export function ErrorText({ error }: { error: ApiError }) {
  const lease = leaseOf(error.claim, Date.now());
  return (
    <span>
      {error.pointer !== undefined && error.problems.length === 0 && <code>{error.pointer} </code>}
      {error.message}
      {lease && `. ${leaseText(lease)}`}
    </span>
  );
}

/** Lists the problems of a document. */
export function ProblemList({ problems }: { problems: readonly BrokenRule[] }) {
  if (problems.length === 0) return null;
  return (
    <ul className="problems">
      {problems.map((problem) => (
        <li key={`${problem.pointer} ${problem.rule} ${problem.detail}`}>
          <code>{problem.pointer || "/"}</code> {problem.detail}
        </li>
      ))}
    </ul>
  );
}
