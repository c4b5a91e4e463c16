import { useCallback } from "react";
import { type Graph, readGraph } from "../../api/service-items";
import { links } from "../../lib/links";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { ResourceStatus } from "../../ui/resource-status";

type Reference = { id: number; pointer: string };

/** Lists the items of the application to which an item refers, and those that refer to it. */
export function References({ itemId }: { itemId: number }) {
  const api = useApi();
  const { role } = useSession();
  const graph = useResource(useCallback(() => readGraph(api, role, itemId), [api, role, itemId]));
  const { data } = graph;
  if (!data) return <ResourceStatus resource={graph} />;
  const to = data.references.filter((reference) => reference.from === itemId);
  const from = data.references.filter((reference) => reference.to === itemId);
  return (
    <>
      <section aria-labelledby="refers">
        <h2 id="refers">Refers to</h2>
        <List graph={data} rows={to.map(({ to: id, pointer }) => ({ id, pointer }))} emptyText="It refers to no item of its application." />
      </section>
      <section aria-labelledby="referenced">
        <h2 id="referenced">Referenced by</h2>
        <List graph={data} rows={from.map(({ from: id, pointer }) => ({ id, pointer }))} emptyText="No item of its application refers to it." />
      </section>
      {data.dependants.length > 0 && (
        <section aria-labelledby="dependents">
          <h2 id="dependents">Dependent teams</h2>
          <p className="hint">Each of them gets its own change for every change of an item of the service.</p>
          <ul>
            {data.dependants.map(({ service, team }) => (
              <li key={`${service.id} ${team.id}`}>
                <strong>{team.name}</strong> for {service.name}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function List({ graph, rows, emptyText }: { graph: Graph; rows: Reference[]; emptyText: string }) {
  if (rows.length === 0) return <p className="empty">{emptyText}</p>;
  return (
    <ul>
      {rows.map(({ id, pointer }) => {
        const item = graph.service_items.find((other) => other.id === id);
        return (
          <li key={`${id} ${pointer}`}>
            <a href={links.item(id)}>{item?.name ?? `Item ${id}`}</a>{" "}
            <span className="hint">
              {item?.service.name} {pointer && <code>{pointer}</code>}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
