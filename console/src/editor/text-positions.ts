import { isAlias, isMap, isScalar, isSeq, type Node, type Pair } from "yaml";
import { lineAt, type ValidText } from "./declaration-text";

export type TextRange = { from: number; to: number; line: number };

/** Returns the range of a path: the value of a scalar, or the key of a larger value. A missing value gives its parent. */
export function findRange(parsed: ValidText, path: readonly string[]): TextRange {
  let node: unknown = parsed.document.contents;
  let range = firstLine(parsed, node);
  for (const step of path) {
    const inner = innerOf(isAlias(node) ? node.resolve(parsed.document) : node, step);
    if (!inner) break;
    node = inner.value;
    range = rangeOf(parsed, inner) ?? range;
  }
  return { ...range, line: lineAt(parsed.text, range.from) };
}

/** Returns the path of the innermost value at a position. */
export function findPath(parsed: ValidText, position: number): (string | number)[] {
  const path: (string | number)[] = [];
  let node: unknown = parsed.document.contents;
  for (let inner = childAt(node, position); inner; inner = childAt(node, position)) {
    path.push(inner.step);
    node = inner.value;
  }
  return path;
}

type Inner = { key?: Node; value: unknown };

function innerOf(node: unknown, step: string): Inner | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
    return pair && { key: pair.key as Node, value: pair.value };
  }
  if (isSeq(node)) return node.items[Number(step)] === undefined ? undefined : { value: node.items[Number(step)] };
  return undefined;
}

function rangeOf(parsed: ValidText, { key, value }: Inner): { from: number; to: number } | undefined {
  const scalar = isScalar(value) || isAlias(value) ? value.range : undefined;
  // An empty value has no characters to mark.
  const range = scalar && scalar[1] > scalar[0] ? scalar : key?.range;
  return range ? { from: range[0], to: range[1] } : firstLine(parsed, value);
}

/** Returns the range from the start of a node to the end of its first line. */
function firstLine(parsed: ValidText, node: unknown): { from: number; to: number } {
  const range = (node as Node | null)?.range;
  const from = range?.[0] ?? 0;
  const end = parsed.text.indexOf("\n", from);
  return { from, to: Math.min(range?.[1] ?? from, end < 0 ? parsed.text.length : end) };
}

function childAt(node: unknown, position: number): { step: string | number; value: unknown } | undefined {
  if (isMap(node)) {
    const starts = node.items.map((pair: Pair) => (pair.key as Node | null)?.range?.[0]);
    const index = lastBefore(starts, position);
    const pair = node.items[index];
    return pair && isScalar(pair.key) ? { step: String(pair.key.value), value: pair.value } : undefined;
  }
  if (isSeq(node)) {
    const index = lastBefore(node.items.map((item) => (item as Node | null)?.range?.[0]), position);
    return index < 0 ? undefined : { step: index, value: node.items[index] };
  }
  return undefined;
}

function lastBefore(starts: (number | undefined)[], position: number): number {
  const next = starts.findIndex((start) => start !== undefined && start > position);
  return (next < 0 ? starts.length : next) - 1;
}
