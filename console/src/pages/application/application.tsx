import { useMemo } from "react";
import { links } from "../../lib/links";
import { useSession } from "../../session/session";
import { ErrorNote } from "../../ui/error-note";
import { Titles } from "../../ui/item-title";
import { Page } from "../../ui/page";
import { Segments } from "../../ui/segments";
import { ApplicationChanges } from "./changes";
import { ApplicationFacts } from "./facts";
import { Foreign } from "./foreign";
import { GraphView } from "./graph-view";
import { ItemList } from "./item-list";
import type { ItemFinding } from "./item-state";
import { useApplicationTitles } from "./use-application-titles";
import { useHealth } from "./use-health";
import { useLiveGraph } from "./use-live-graph";
import { useMarks } from "./use-marks";
import { useViewQuery } from "./view-query";

const VIEWS = [
  { value: "graph", text: "Graph" },
  { value: "list", text: "List" },
  { value: "changes", text: "Open changes" },
] as const;

/** Shows an application: its items as a graph or as a list, and its open changes. */
export function ApplicationPage({ id }: { id: number }) {
  const { role } = useSession();
  const live = useLiveGraph(id);
  const health = useHealth(id, live.graph);
  const findings = useMemo(() => findingsOfItems(live.drifted, health), [live.drifted, health]);
  const marks = useMarks(live);
  const titles = useApplicationTitles(id, live);
  const [query, change] = useViewQuery(id);
  if (live.error?.status === 404) return <Foreign id={id} />;
  const items = { graph: live.graph, findings, titles, changed: marks.changed, query, onChange: change };
  return (
    <Page title={live.graph.name || "Application"}>
      <div className="application-facts">
        {/* The items come first: the facts count all of them, which takes as long as a page of the graph. */}
        {!live.isLoading && <ApplicationFacts id={id} revision={live.revision} />}
      </div>
      <div className="application-head">
        <Segments legend="View" value={query.view} options={VIEWS} onChange={(view) => change({ view })} />
        {role === "consumer" && (
          <a className="button primary" href={links.edit(id)}>
            Edit application
          </a>
        )}
      </div>
      <p role="status" className="hidden">
        {marks.announcement}
      </p>
      {live.error && <ErrorNote error={live.error} onRetry={() => void live.refresh()} />}
      <Titles value={titles}>
        {query.view === "changes" && <ApplicationChanges id={id} />}
        {query.view !== "changes" && live.isLoading && <p role="status">Loading…</p>}
        {query.view === "graph" && !live.isLoading && <GraphView {...items} />}
        {query.view === "list" && !live.isLoading && <ItemList {...items} />}
      </Titles>
    </Page>
  );
}

function findingsOfItems(drifted: ReadonlySet<number>, health: ReadonlyMap<number, ItemFinding["health"]>) {
  const findings = new Map<number, ItemFinding>();
  for (const [id, status] of health) findings.set(id, { health: status ?? null });
  for (const id of drifted) findings.set(id, { ...findings.get(id), isDrifted: true });
  return findings as ReadonlyMap<number, ItemFinding>;
}
