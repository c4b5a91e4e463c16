import type { Service } from "../../api/types";

/** Explains each state of a service. */
export const STATE_TEXTS: Record<Service["state"], string> = {
  IN_SERVICE: "In service",
  NO_NEW_SERVICE_ITEM: "No new items",
  NO_MODIFY_EXISTING_SERVICE_ITEM: "No new items, no modifications",
  DECOMMISSIONED: "Decommissioned: only removals",
};

/** Explains what references to the items of a service show. */
export const REFERENCES_TEXTS: Record<Service["references_see"], string> = {
  STATE: "Names and states",
  DEPLOYED: "Also the deployed version",
  ALL: "The whole document",
};
