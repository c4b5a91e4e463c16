import type { Service } from "../../api/types";

/** Explains each state of a service. */
export const STATE_TEXTS: Record<Service["state"], string> = {
  IN_SERVICE: "In service",
  NO_NEW_SERVICE_ITEM: "No new items",
  NO_MODIFY_EXISTING_SERVICE_ITEM: "No new items, no modifications",
  DECOMMISSIONED: "Decommissioned: only removals",
};
