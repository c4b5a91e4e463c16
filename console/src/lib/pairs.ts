import { isObject } from "../api/json";
import type { Json } from "../api/types";

/** The indexes of an element before and after. */
export type Pair = [before: number, after: number];

/**
 * Returns the elements of two arrays that belong together, in the order of both, as the API pairs them: by `name`, or by
 * value without a name. Between those, equal elements at both ends, and then elements without a name in their order.
 */
export function pairsOf(before: readonly Json[], after: readonly Json[]): Pair[] {
  const [old, now] = [before.map(keyOf), after.map(keyOf)];
  const pairs: Pair[] = [];
  let start: Pair = [0, 0];
  for (const end of [...longest(common(old, now)), [old.length, now.length] as Pair]) {
    pairs.push(...between(old, now, start, end));
    if (end[0] < old.length) pairs.push(end);
    start = [end[0] + 1, end[1] + 1];
  }
  return pairs;
}

/** Serializes a value with sorted names, because the order of members has no meaning. */
export function canonical(value: Json): string {
  return JSON.stringify(value, (_, inner: Json) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

/** Identifies an element: by its name, else by its value. */
type Key = { text: string; isName: boolean };

function keyOf(element: Json): Key {
  const name = isObject(element) ? element.name : undefined;
  return typeof name === "string" ? { text: name, isName: true } : { text: canonical(element), isName: false };
}

/** Returns the indexes of each key that both arrays have once, in the order of the old one. */
function common(old: readonly Key[], now: readonly Key[]): Pair[] {
  const indexes = once(now);
  const pairs = [...once(old)].map(([key, index]): [number, number | undefined] => [index, indexes.get(key)]);
  return pairs.filter((pair): pair is Pair => pair[1] !== undefined).sort(([a], [b]) => a - b);
}

function once(keys: readonly Key[]): Map<string, number> {
  const indexes = new Map<string, number | undefined>();
  keys.forEach(({ text, isName }, index) => {
    const key = `${isName}${text}`;
    indexes.set(key, indexes.has(key) ? undefined : index);
  });
  return new Map([...indexes].filter((entry): entry is [string, number] => entry[1] !== undefined));
}

/** Returns the longest sequence whose second indexes increase as well. */
function longest(pairs: readonly Pair[]): Pair[] {
  const ends: number[] = [];
  const earlier: (number | undefined)[] = [];
  pairs.forEach(([, after], position) => {
    let [length, most] = [0, ends.length];
    while (length < most) {
      const middle = (length + most) >> 1;
      if ((pairs[ends[middle] as number] as Pair)[1] < after) length = middle + 1;
      else most = middle;
    }
    earlier[position] = ends[length - 1];
    ends[length] = position;
  });
  const sequence: Pair[] = [];
  for (let position = ends.at(-1); position !== undefined; position = earlier[position]) {
    sequence.unshift(pairs[position] as Pair);
  }
  return sequence;
}

/** Returns the pairs of two ranges without a common sequence. */
function between(old: readonly Key[], now: readonly Key[], start: Pair, end: Pair): Pair[] {
  let [first, firstNow] = start;
  let [last, lastNow] = end;
  const isEqual = (one: number, other: number) =>
    old[one]?.text === now[other]?.text && old[one]?.isName === now[other]?.isName;
  const [head, tail]: [Pair[], Pair[]] = [[], []];
  while (first < last && firstNow < lastNow && isEqual(first, firstNow)) head.push([first++, firstNow++]);
  while (first < last && firstNow < lastNow && isEqual(last - 1, lastNow - 1)) tail.unshift([--last, --lastNow]);
  const unnamed = (keys: readonly Key[], from: number, to: number) =>
    keys.map((_, index) => index).filter((index) => index >= from && index < to && !keys[index]?.isName);
  const others = unnamed(now, firstNow, lastNow);
  const middle = unnamed(old, first, last).flatMap((index, position): Pair[] => {
    const other = others[position];
    return other === undefined ? [] : [[index, other]];
  });
  return [...head, ...middle, ...tail];
}
