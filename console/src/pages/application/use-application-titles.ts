import { useMemo } from "react";
import type { TitleMap } from "../../api/titles";
import { useTitles } from "../../lib/use-titles";
import { useApi, useSession } from "../../session/session";
import { optionsOf } from "./list-rows";
import type { LiveGraph } from "./use-live-graph";

/** Reads the titles of the items of an application, and again for each revision. */
export function useApplicationTitles(id: number, { graph, revision }: LiveGraph): TitleMap {
  const api = useApi();
  const { role } = useSession();
  // A part of the graph would ask for its services, and the whole one for all of them again.
  const services = useMemo(() => (graph.isComplete ? optionsOf(graph).services : []), [graph]);
  const filter = useMemo(() => ({ application_id: String(id) }), [id]);
  return useTitles(api, role, services, filter, revision);
}
