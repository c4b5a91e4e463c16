import { useCallback } from "react";
import { openChangesOfItem } from "../../api/application-items";
import { readItem, type ServiceItem } from "../../api/service-items";
import type { ChangeInstance } from "../../api/types";
import { links } from "../../lib/links";
import { useDelayed } from "../../lib/use-delayed";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { Facts } from "../../ui/facts";
import { ItemTitle } from "../../ui/item-title";
import { ResourceStatus } from "../../ui/resource-status";
import { StateBadge, TypeBadge } from "../../ui/state-badge";
import { ItemBadges } from "./badges";
import { type AppGraph, awaitedText, NO_REFERENCES } from "./graph-model";
import { type ItemFinding, turnOf } from "./item-state";
import { Neighbours } from "./neighbours";

/** Arrow keys pass several items: only the item at which they stop is read. */
const PASSING_MILLISECONDS = 200;

type Props = {
  graph: AppGraph;
  item: number;
  finding: ItemFinding | undefined;
  onSelect: (id: number) => void;
  onClose: () => void;
};

/** Shows facts, open changes and references of the selected item. */
export function ItemPanel({ graph, item: id, finding, onSelect, onClose }: Props) {
  const item = graph.byId.get(id);
  if (!item) return null;
  const nameOf = (other: number) => graph.byId.get(other);
  const to = (graph.from.get(id) ?? NO_REFERENCES).map((reference) => ({ ...reference, item: nameOf(reference.to) }));
  const from = (graph.to.get(id) ?? NO_REFERENCES).map((reference) => ({ ...reference, item: nameOf(reference.from) }));
  return (
    <aside className="item-panel card" aria-label="Selected item">
      <div className="panel-head">
        <h2>
          <ItemTitle item={item} />
        </h2>
        <button type="button" className="quiet" aria-label="Close the selected item" onClick={onClose}>
          ✕
        </button>
      </div>
      <ItemBadges item={item} finding={finding} />
      <Facts
        facts={[
          ["Service", item.service.name],
          ["Owner", item.service_owner_team.name],
          ["Next", turnOf(item, graph.dependents.get(item.service.id))],
          ["Waits for", awaitedText(graph, id)],
        ]}
      />
      <Details id={id} version={`${item.change_state} ${item.runtime_state}`} />
      <Neighbours title="Refers to" rows={to} onSelect={onSelect} />
      <Neighbours title="Referred to by" rows={from} onSelect={onSelect} />
      <p>
        <a className="button" href={links.item(id)}>
          Open item
        </a>
      </p>
    </aside>
  );
}

type Detail = { item: ServiceItem; changes: ChangeInstance[] };

function Details({ id, version }: { id: number; version: string }) {
  const api = useApi();
  const { role } = useSession();
  const wanted = useDelayed(`${id} ${version}`, PASSING_MILLISECONDS);
  const load = useCallback(async (): Promise<Detail> => {
    const stopped = Number(wanted.split(" ")[0]);
    const [item, changes] = await Promise.all([readItem(api, role, stopped), openChangesOfItem(api, role, stopped)]);
    return { item, changes };
  }, [api, role, wanted]);
  const detail = useResource(load);
  if (!detail.data || detail.data.item.id !== id) return <ResourceStatus resource={detail} />;
  const { item, changes } = detail.data;
  return (
    <>
      <Facts
        facts={[
          ["Declaration", `version ${item.declaration_version}`],
          ["Health reason", item.healthcheck_reason],
          ["Drift", item.drift?.differences?.map(({ pointer }) => pointer).join(", ")],
        ]}
      />
      <h3>Open changes</h3>
      {changes.length === 0 && <p className="hint">No change is open.</p>}
      <ul className="panel-changes">
        {changes.map((change) => (
          <li key={change.id}>
            <StateBadge state={change.state} /> <TypeBadge type={change.change_type} /> {change.owner.name}
            {change.log && <p>{change.log}</p>}
          </li>
        ))}
      </ul>
    </>
  );
}
