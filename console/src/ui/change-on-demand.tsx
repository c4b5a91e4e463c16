import { type ReactNode, useCallback, useState } from "react";
import { readChange } from "../api/changes";
import type { ChangeInstance } from "../api/types";
import { useResource } from "../lib/use-resource";
import { useApi, useSession } from "../session/session";
import { ResourceStatus } from "./resource-status";

type Props = {
  id: number;
  /** Names the change in the button, for example by its item. */
  name: string;
  /** Names the part of the change in the button, for example `differences`. */
  part: string;
  children: (change: ChangeInstance) => ReactNode;
};

/** Reads a change on demand and shows a part of it, because lists omit the declarations and the references. */
export function ChangeOnDemand({ id, name, part, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? "Hide" : "Show"} {part}
        <span className="hidden"> of {name}</span>
      </button>
      {isOpen && <Loaded id={id}>{children}</Loaded>}
    </>
  );
}

function Loaded({ id, children }: Pick<Props, "id" | "children">) {
  const api = useApi();
  const { role } = useSession();
  const change = useResource(useCallback(() => readChange(api, role, id), [api, role, id]));
  return (
    <>
      <ResourceStatus resource={change} />
      {change.data && children(change.data)}
    </>
  );
}
