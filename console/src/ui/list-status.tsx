import type { ChangeList } from "../lib/use-changes";
import { Empty } from "./empty";
import { ErrorNote } from "./error-note";

/** Shows that a list loads, failed or is empty. */
export function ListStatus({ list, emptyText }: { list: ChangeList; emptyText: string }) {
  if (list.error) return <ErrorNote error={list.error} onRetry={() => void list.refresh()} />;
  if (list.isLoading && list.rows.length === 0) return <p role="status">Loading…</p>;
  if (list.rows.length > 0) return null;
  return <Empty text={emptyText} />;
}
