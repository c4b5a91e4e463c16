import { plural } from "../../lib/plural";
import { ErrorText, ProblemList } from "../../ui/error-note";
import { Icon } from "../../ui/icon";
import { ItemName } from "../../ui/item-name";
import type { Batch, Result } from "./use-batch";

/** Shows the result of each change in the last batch. Failed ones come first, with the error of the API. */
export function Results({ batch, onDismiss }: { batch: Batch; onDismiss: () => void }) {
  const failed = batch.results.filter((result) => result.status === "failed");
  const done = batch.results.filter((result) => result.status === "done");
  return (
    <section className="card results" aria-labelledby="results">
      <h2 id="results">Results</h2>
      <p role="status">
        {batch.isRunning
          ? `${done.length + failed.length} of ${plural(batch.results.length, "change")} sent`
          : `${plural(done.length, "change")} ${batch.decision.past}, ${plural(failed.length, "error")}`}
      </p>
      <ul>
        {[...failed, ...done].map((result) => (
          <Line key={result.change.id} result={result} past={batch.decision.past} />
        ))}
      </ul>
      {!batch.isRunning && (
        <button type="button" onClick={onDismiss}>
          Close results
        </button>
      )}
    </section>
  );
}

function Line({ result, past }: { result: Result; past: string }) {
  const { change, error } = result;
  return (
    <li className={error ? "bad" : "good"}>
      <Icon name={error ? "warning" : "check"} /> <ItemName change={change} />:{" "}
      {error ? (
        <>
          <ErrorText error={error} />
          <ProblemList problems={error.problems} />
        </>
      ) : (
        past
      )}
    </li>
  );
}
