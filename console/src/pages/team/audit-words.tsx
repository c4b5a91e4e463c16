import type { ReactNode } from "react";
import type { AuditEntry } from "../../api/team";
import { formatTime } from "../../lib/age";
import { links } from "../../lib/links";
import { stateWord } from "../../ui/state-badge";

/** Names the kinds of objects in the audit log, by their members of an entry. */
export const SUBJECTS = [
  { value: "api_key", text: "API keys" },
  { value: "member", text: "Members" },
  { value: "service", text: "Services" },
  { value: "webhook", text: "Webhooks" },
  { value: "message", text: "Messages" },
  { value: "healthcheck", text: "Healthchecks" },
  { value: "team", text: "Team" },
] as const;

export type Subject = (typeof SUBJECTS)[number]["value"];

/** Returns an event as words, for example `API key created`. */
export function eventText(event: AuditEntry["event"]): string {
  const words = event.toLowerCase().replaceAll("_", " ").replace("api key", "API key");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns the name of the changed object. */
export function subjectName(entry: AuditEntry): ReactNode {
  const { service, healthcheck } = entry;
  if (service) return <a href={links.service(service.id)}>{service.name}</a>;
  if (healthcheck) return <a href={links.service(healthcheck.service)}>{`service ${healthcheck.service}`}</a>;
  if (entry.message) return `message ${entry.message.id}`;
  return (entry.api_key ?? entry.member ?? entry.webhook)?.name ?? "";
}

/** Returns the settings after the change, without the name. */
export function detailText({ api_key, member, service, webhook, healthcheck, team, message }: AuditEntry): string {
  if (api_key) return `role ${api_key.role}${api_key.expires ? `, valid until ${formatTime(api_key.expires)}` : ""}`;
  if (member) return `role ${member.role}`;
  if (service) return `schema version ${service.schema_version}, ${service.state.toLowerCase().replaceAll("_", " ")}`;
  if (webhook) return webhookText(webhook);
  if (healthcheck) return healthcheck.schedule === null ? "no schedule" : `schedule ${healthcheck.schedule}`;
  if (team) return team.confirm_removals ? "removals need a confirmation" : "removals need no confirmation";
  if (message) return message.services.length === 0 ? "all services" : `services ${message.services.join(", ")}`;
  return "";
}

function webhookText({ pov, change_instance_state: state, active }: NonNullable<AuditEntry["webhook"]>): string {
  const role = pov === "serviceowner" ? "service owner" : "consumer";
  return `${role}, ${state === null ? "every new change" : `${stateWord(state)} changes`}${active ? "" : ", paused"}`;
}
