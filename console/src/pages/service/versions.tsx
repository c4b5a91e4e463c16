import { useCallback, useState } from "react";
import { readService } from "../../api/services";
import type { Service } from "../../api/types";
import { definitionOf } from "../../lib/definition";
import { differencesBetween } from "../../lib/differences";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { DifferenceList } from "../../ui/differences";
import { SelectFilter } from "../../ui/filters";
import { ResourceStatus } from "../../ui/resource-status";

/** Compares two versions of a definition. */
export function Versions({ service }: { service: Service }) {
  const newest = service.schema.version;
  const [pair, setPair] = useState({ older: Math.max(1, newest - 1), newer: newest });
  if (newest === 1) return <p>The definition has one version.</p>;
  return (
    <>
      <div className="filters" role="group" aria-label="Versions to compare">
        <Choice text="From version" value={pair.older} newest={newest} onChange={(older) => setPair({ ...pair, older })} />
        <Choice text="To version" value={pair.newer} newest={newest} onChange={(newer) => setPair({ ...pair, newer })} />
      </div>
      <Comparison id={service.id} older={pair.older} newer={pair.newer} />
    </>
  );
}

type ChoiceProps = { text: string; value: number; newest: number; onChange: (version: number) => void };

function Choice({ text, value, newest, onChange }: ChoiceProps) {
  const change = (version: number) => {
    if (Number.isInteger(version) && version >= 1 && version <= newest) onChange(version);
  };
  // A list of thousands of versions would be no choice.
  if (newest > LONG) {
    return (
      <label>
        {text} <input type="number" min={1} max={newest} defaultValue={value} onChange={(event) => change(Number(event.target.value))} />
      </label>
    );
  }
  return (
    <SelectFilter
      label={text}
      value={value}
      options={Array.from({ length: newest }, (_, index) => ({ value: newest - index, text: String(newest - index) }))}
      onChange={onChange}
    />
  );
}

const LONG = 200;

function Comparison({ id, older, newer }: { id: number; older: number; newer: number }) {
  const api = useApi();
  const { role } = useSession();
  const load = useCallback(
    () => Promise.all([older, newer].map(async (version) => definitionOf(await readService(api, role, id, version)))),
    [api, role, id, older, newer],
  );
  const both = useResource(load);
  const [before, after] = both.data ?? [];
  if (!before || !after) return <ResourceStatus resource={both} />;
  const differences = differencesBetween(before, after);
  return differences.length === 0 ? <p>The versions are equal.</p> : <DifferenceList differences={differences} />;
}
