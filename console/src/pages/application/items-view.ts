import type { TitleMap } from "../../api/titles";
import type { AppGraph } from "./graph-model";
import type { ItemFinding } from "./item-state";
import type { ViewQuery } from "./view-query";

/** Input of both views of the items. */
export type ItemsView = {
  graph: AppGraph;
  findings: ReadonlyMap<number, ItemFinding>;
  titles: TitleMap;
  /** Items to mark because they changed a moment ago. */
  changed: ReadonlySet<number>;
  query: ViewQuery;
  onChange: (change: Partial<ViewQuery>) => void;
};
