import { useState } from "react";
import type { Service } from "../../api/types";
import { Facts } from "../../ui/facts";
import { SettingsDialog } from "./settings-dialog";
import { REFERENCES_TEXTS, STATE_TEXTS } from "./texts";

type Props = { service: Service; isOwn: boolean; onChange: () => void };

/** Shows the settings of a service. Its owner can change them. */
export function Settings({ service, isOwn, onChange }: Props) {
  const [isOpen, setOpen] = useState(false);
  const saved = () => {
    setOpen(false);
    onChange();
  };
  return (
    <>
      <Facts
        facts={[
          ["State", STATE_TEXTS[service.state]],
          ["Approval", service.approval_required ? "Changes start as pending" : "Changes start as approved"],
          ["Approval by people", yesOrNo(service.allow_manual_approval)],
          ["Completion by people", yesOrNo(service.allow_manual_completion)],
          ["Updates", service.update_strategy === "REPLACE" ? "Items are removed and created again" : "Items are modified"],
          ["Nothing to do", service.complete_unneeded ? "Changes start as completed" : "The owner completes the change"],
          ["Claim required", service.claim_required ? "API keys complete and fail only with a claim" : "No"],
          ["References to the items show", REFERENCES_TEXTS[service.references_see]],
          ["Minimum version", service.minimum_version ?? "None"],
          ["Tags", service.tags.join(", ") || "None"],
          ["Teams that may declare", allowedText(service, isOwn)],
          ["Dependent teams", service.dependant_teams.map((team) => team.name).join(", ") || "None"],
        ]}
      />
      {isOwn && (
        <button type="button" onClick={() => setOpen(true)}>
          Change settings
        </button>
      )}
      {isOpen && <SettingsDialog service={service} onSaved={saved} onClose={() => setOpen(false)} />}
    </>
  );
}

function yesOrNo(isAllowed: boolean): string {
  return isAllowed ? "Allowed" : "Only API keys";
}

function allowedText(service: Service, isOwn: boolean): string {
  if (service.allowed_teams.length === 0) return "All teams";
  // Other teams than the owner see only their own id.
  return isOwn ? `Ids ${service.allowed_teams.join(", ")}` : "Selected teams, yours included";
}
