export type Shortened<Entry> = {
  first: readonly Entry[];
  /** Counts the other entries, for example ` and 2 more`. Empty without any. */
  more: string;
};

/** Returns the first entries of a list for a short text, at most `most`. */
export function shorten<Entry>(all: readonly Entry[], most: number, count = all.length): Shortened<Entry> {
  const first = all.slice(0, most);
  const others = count - first.length;
  return { first, more: others > 0 ? ` and ${others} more` : "" };
}
