import { useCallback } from "react";
import { readItemClaim } from "../../api/changes";
import type { ServiceItem } from "../../api/service-items";
import type { Claim } from "../../api/types";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";

const SECONDS = 30;

/** Reads the claim of an owner on an item with open changes. A consumer has none. */
export function useItemClaim({ id, change_state: state }: ServiceItem): Claim | null {
  const api = useApi();
  const { role } = useSession();
  const hasClaim = role === "serviceowner" && state !== "ALL_CHANGES_COMPLETED";
  const load = useCallback(async () => (hasClaim ? readItemClaim(api, id) : null), [api, id, hasClaim]);
  return useResource(load, SECONDS).data;
}
