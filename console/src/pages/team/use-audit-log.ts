import { useCallback, useState } from "react";
import type { ApiError } from "../../api/errors";
import { type AuditPage, listAuditLog } from "../../api/team";
import { useAction } from "../../lib/use-action";
import { type Resource, useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";

export type AuditList = {
  first: Resource<AuditPage>;
  rows: AuditPage["rows"];
  hasMore: boolean;
  isBusy: boolean;
  error: ApiError | null;
  loadMore: () => void;
};

/** Reads the audit log page by page. New entries appear after a return to the list. */
export function useAuditLog(): AuditList {
  const api = useApi();
  const first = useResource(useCallback(() => listAuditLog(api), [api]));
  const [later, setLater] = useState<AuditPage | null>(null);
  const { run, isBusy, error } = useAction();
  const cursor = later ? later.cursor : first.data?.cursor;
  const loadMore = () =>
    void run(async () => {
      const page = await listAuditLog(api, cursor);
      setLater((current) => ({ rows: [...(current?.rows ?? []), ...page.rows], cursor: page.cursor }));
    });
  const rows = [...(first.data?.rows ?? []), ...(later?.rows ?? [])];
  return { first, rows, hasMore: cursor !== undefined, isBusy, error, loadMore };
}
