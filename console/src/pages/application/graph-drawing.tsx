import { memo } from "react";
import type { Edge } from "./graph-edges";
import type { Layout } from "./graph-layout";
import { Lines } from "./graph-lines";
import { type AppGraph, NO_REFERENCES } from "./graph-model";
import { GroupBox, ItemNode, type Relation, TeamNode } from "./graph-nodes";
import type { ItemsView } from "./items-view";

type Props = Pick<ItemsView, "graph" | "findings" | "changed"> & {
  layout: Layout;
  edges: readonly Edge[];
  selected: number | undefined;
  canShowMore: boolean;
  onSelect: (id: number) => void;
  onMore: (service: number) => void;
};

/** Draws boxes and lines. A pan or zoom does not render it again. */
export const Drawing = memo(function Drawing(props: Props) {
  const { graph, findings, changed, layout, edges, selected, canShowMore, onSelect, onMore } = props;
  const relations = relationsOf(graph, selected);
  const tabStop = selected ?? layout.groups.find((placed) => placed.items.length > 0)?.items[0]?.item.id;
  return (
    <>
      {layout.groups.map((placed) => (
        <GroupBox key={placed.group.service.id} placed={placed} canShowMore={canShowMore} onMore={onMore}>
          {placed.items.map(({ item, box }) => (
            <ItemNode
              key={item.id}
              item={item}
              x={box.x - placed.box.x}
              y={box.y - placed.box.y}
              graph={graph}
              finding={findings.get(item.id)}
              relation={relations.get(item.id) ?? (selected === undefined ? "none" : "other")}
              isChanged={changed.has(item.id)}
              isTabStop={item.id === tabStop}
              onSelect={onSelect}
            />
          ))}
        </GroupBox>
      ))}
      {layout.teams.map(({ team, box }) => (
        <TeamNode key={team.id} name={team.name} box={box} />
      ))}
      <Lines layout={layout} edges={edges} selected={selected} />
    </>
  );
});

function relationsOf(graph: AppGraph, selected: number | undefined): Map<number, Relation> {
  const relations = new Map<number, Relation>();
  if (selected === undefined) return relations;
  for (const { from } of graph.to.get(selected) ?? NO_REFERENCES) relations.set(from, "from");
  for (const { to } of graph.from.get(selected) ?? NO_REFERENCES) relations.set(to, "to");
  return relations.set(selected, "selected");
}
