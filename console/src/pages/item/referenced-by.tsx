import { useCallback } from "react";
import { type Graph, readGraph } from "../../api/service-items";
import { links } from "../../lib/links";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { ResourceStatus } from "../../ui/resource-status";

/** Lists the items of the application that refer to an item, and the dependent teams. */
export function ReferencedBy({ itemId }: { itemId: number }) {
  const api = useApi();
  const { role } = useSession();
  const graph = useResource(useCallback(() => readGraph(api, role, itemId), [api, role, itemId]));
  const { data } = graph;
  if (!data) return <ResourceStatus resource={graph} />;
  return (
    <>
      <section aria-labelledby="referenced">
        <h2 id="referenced">Referenced by</h2>
        <List graph={data} itemId={itemId} />
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

function List({ graph, itemId }: { graph: Graph; itemId: number }) {
  const rows = graph.references.filter((reference) => reference.to === itemId);
  if (rows.length === 0) return <p className="empty">No item of its application refers to it.</p>;
  return (
    <ul>
      {rows.map(({ from: id, pointer }) => {
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
