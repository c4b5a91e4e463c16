import type { ChangeInstance } from "../api/types";
import { useNow } from "../lib/use-now";
import { Causes } from "./causes";
import { ChangeOnDemand } from "./change-on-demand";
import { ClaimText } from "./claim-text";
import { Differences } from "./differences";
import { Facts } from "./facts";

/** Shows the causes and differences of a change on demand. Owners see its claim. */
export function ChangeDifferences({ id, name }: { id: number; name: string }) {
  return (
    <ChangeOnDemand id={id} name={name} part="differences">
      {(change) => <Content change={change} />}
    </ChangeOnDemand>
  );
}

function Content({ change }: { change: ChangeInstance }) {
  const now = useNow();
  return (
    <>
      {change.claim && <Facts facts={[["Claim", <ClaimText claim={change.claim} now={now} />]]} />}
      <Causes change={change} />
      <Differences change={change} />
    </>
  );
}
