import type { Resource } from "../lib/use-resource";
import { ErrorNote } from "./error-note";

/** Shows that data loads, or why it did not. */
export function ResourceStatus({ resource }: { resource: Resource<unknown> }) {
  if (resource.error) return <ErrorNote error={resource.error} onRetry={() => void resource.refresh()} />;
  if (resource.isLoading) return <p role="status">Loading…</p>;
  return null;
}
