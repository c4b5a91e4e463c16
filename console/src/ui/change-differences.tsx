import { useCallback, useState } from "react";
import { readChange } from "../api/changes";
import { useResource } from "../lib/use-resource";
import { useApi, useSession } from "../session/session";
import { Differences } from "./differences";
import { ResourceStatus } from "./resource-status";

type Props = { id: number; name: string };

/** Reads and shows the differences of a change on demand, because light lists omit the declarations. */
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
  return (
    <>
      <ResourceStatus resource={change} />
      {change.data && <Differences change={change.data} />}
    </>
  );
}
