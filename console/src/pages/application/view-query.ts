import { type ApplicationView, links } from "../../lib/links";
import { replaceLink, useRoute } from "../../lib/route";

export type ViewName = "graph" | "list" | "changes";
export type ViewQuery = {
  view: ViewName;
  item: number | undefined;
  state: string;
  service: number | undefined;
  text: string;
  attention: "true" | "";
};

/** Returns view, selection and filters from the address, and a function to change them there. */
export function useViewQuery(id: number): [ViewQuery, (change: Partial<ViewQuery>) => void] {
  const { query } = useRoute();
  const view = (["list", "changes"] as const).find((name) => name === query.get("view")) ?? "graph";
  const current: ViewQuery = {
    view,
    item: Number(query.get("item")) || undefined,
    state: query.get("state") ?? "",
    service: Number(query.get("service")) || undefined,
    text: query.get("text") ?? "",
    attention: query.get("attention") === "true" ? "true" : "",
  };
  const change = (part: Partial<ViewQuery>) => replaceLink(links.application(id, addressOf({ ...current, ...part })));
  return [current, change];
}

function addressOf({ view, ...rest }: ViewQuery): ApplicationView {
  return { view: view === "graph" ? undefined : view, ...rest };
}
