import { useCallback, useState } from "react";
import { readChange } from "../api/changes";
import { useNow } from "../lib/use-now";
import { useResource } from "../lib/use-resource";
import { useApi, useSession } from "../session/session";
import { ClaimText } from "./claim-text";
import { Differences } from "./differences";
import { Facts } from "./facts";
import { ResourceStatus } from "./resource-status";

type Props = { id: number; name: string };

/** Reads and shows the differences of a change on demand, because light lists omit the declarations. Owners see its claim. */
export function ChangeDifferences({ id, name }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "Hide differences" : "Show differences"}
        <span className="hidden"> of {name}</span>
      </button>
      {isOpen && <Loaded id={id} />}
    </>
  );
}

function Loaded({ id }: { id: number }) {
  const api = useApi();
  const { role } = useSession();
  const change = useResource(useCallback(() => readChange(api, role, id), [api, role, id]));
  const now = useNow();
  return (
    <>
      <ResourceStatus resource={change} />
      {change.data?.claim && <Facts facts={[["Claim", <ClaimText claim={change.data.claim} now={now} />]]} />}
      {change.data && <Differences change={change.data} />}
    </>
  );
}
