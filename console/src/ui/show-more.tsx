import { plural } from "../lib/plural";

type Props = { count: number; noun: string; onMore: () => void };

/** Counts the rows of a list, and offers its next page. */
export function ShowMore({ count, noun, onMore }: Props) {
  return (
    <p>
      {plural(count, noun)} shown.{" "}
      <button type="button" onClick={onMore}>
        Show more
      </button>
    </p>
  );
}
