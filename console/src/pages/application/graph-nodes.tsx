import { memo, type MouseEvent } from "react";
import type { Box, Point } from "../../lib/geometry";
import { links } from "../../lib/links";
import { plural } from "../../lib/plural";
import { ItemTitle, useTitle } from "../../ui/item-title";
import { Badge } from "../../ui/state-badge";
import { ItemBadges } from "./badges";
import { MORE_ITEMS } from "./graph-groups";
import { NODE, type PlacedGroup } from "./graph-layout";
import { type AppGraph, awaitedText } from "./graph-model";
import { type ItemFinding, stateOf, turnOf } from "./item-state";

/** Relation of a node to the selected one. */
export type Relation = "selected" | "to" | "from" | "none" | "other";

const WORDS: Record<Relation, string> = { selected: "Selected", to: "Referenced", from: "Refers to it", none: "", other: "" };

type ItemProps = Point & {
  item: PlacedGroup["items"][number]["item"];
  graph: AppGraph;
  finding: ItemFinding | undefined;
  relation: Relation;
  isChanged: boolean;
  isTabStop: boolean;
  onSelect: (id: number) => void;
};

/** Draws an item as a link. The first click or the focus selects it; a click on the selected item opens it. */
export const ItemNode = memo(function ItemNode(props: ItemProps) {
  const { item, graph, finding, relation, isChanged, isTabStop, onSelect } = props;
  const title = useTitle(item.id);
  const awaited = awaitedText(graph, item.id);
  const onClick = (event: MouseEvent) => {
    // The click of a keyboard has no position: Enter opens the item.
    const isPointer = event.detail > 0;
    if (!isPointer || relation === "selected" || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onSelect(item.id);
  };
  return (
    <li>
      <a
        href={links.item(item.id)}
        className={`node ${relation}${isChanged ? " changed" : ""}`}
        style={{ left: props.x, top: props.y, ...NODE }}
        tabIndex={isTabStop ? 0 : -1}
        data-node={item.id}
        aria-current={relation === "selected" ? "true" : undefined}
        title={title === undefined ? item.name : `${title} (${item.name})`}
        draggable={false}
        onClick={onClick}
      >
        <span className="node-name">
          <strong>
            <ItemTitle item={item} />
          </strong>
          {(WORDS[relation] || isChanged) && <em>{isChanged ? "Changed" : WORDS[relation]}</em>}
        </span>
        <ItemBadges item={item} finding={finding} />
        <span className="node-turn">{turnOf(item, graph.dependents.get(item.service.id)) || "No open change"}</span>
        {awaited && <span className="hidden">Waits for {awaited}</span>}
      </a>
    </li>
  );
});

type GroupProps = { placed: PlacedGroup; children: React.ReactNode; canShowMore: boolean; onMore: (service: number) => void };

/** Draws a service around its items. Without items, it counts their states. */
export function GroupBox({ placed, children, canShowMore, onMore }: GroupProps) {
  const { group, box } = placed;
  const hidden = group.all.length - group.shown.length;
  return (
    <section className="group-box" style={styleOf(box)} aria-label={`${group.service.name}, ${plural(group.all.length, "item")}`}>
      <h2 title={group.service.name}>
        {group.service.name} <span className="hint">{group.all.length}</span>
      </h2>
      {group.shown.length === 0 && <GroupCounts placed={placed} />}
      <ul>{children}</ul>
      {hidden > 0 && (
        <button type="button" className="more" disabled={!canShowMore} onClick={() => onMore(group.service.id)}>
          Show {Math.min(hidden, MORE_ITEMS)} of {group.shown.length > 0 ? `${hidden} more` : plural(hidden, "item")}
        </button>
      )}
    </section>
  );
}

function GroupCounts({ placed }: { placed: PlacedGroup }) {
  const counts = new Map<string, number>();
  const marks = placed.group.all.map(stateOf);
  for (const { word } of marks) counts.set(word, (counts.get(word) ?? 0) + 1);
  return (
    <p className="badges">
      {[...counts].map(([word, count]) => {
        const { icon, tone } = marks.find((mark) => mark.word === word) ?? { icon: "clock" as const, tone: "quiet" };
        return <Badge key={word} icon={icon} tone={tone} word={`${count} ${word.toLowerCase()}`} />;
      })}
    </p>
  );
}

/** Draws a dependent team. */
export function TeamNode({ name, box }: { name: string; box: Box }) {
  return (
    <p className="team-node" style={styleOf(box)}>
      <strong title={name}>{name}</strong>
      <span className="hint">Dependent team</span>
    </p>
  );
}

function styleOf({ x, y, width, height }: Box) {
  return { left: x, top: y, width, height };
}
