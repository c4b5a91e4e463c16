import { type ServiceSettings, updateSettings } from "../../api/services";
import type { Service } from "../../api/types";
import { useApi } from "../../session/session";
import { FormDialog } from "../../ui/form-dialog";
import { REFERENCES_TEXTS, STATE_TEXTS } from "./texts";

type Props = { service: Service; onSaved: () => void; onClose: () => void };

const CHECKS = [
  ["approval_required", "Changes need an approval"],
  ["allow_manual_approval", "People may approve"],
  ["allow_manual_completion", "People may complete"],
  ["complete_unneeded", "Changes with nothing to do start as completed"],
  ["claim_required", "Claim required: API keys complete and fail only with a claim"],
] as const;

/** Changes the settings of a service. Only changed settings are sent. */
export function SettingsDialog({ service, onSaved, onClose }: Props) {
  const api = useApi();
  const save = async (fields: FormData) => {
    await updateSettings(api, service.id, changedSettings(service, fields));
    onSaved();
  };
  return (
    <FormDialog title={`Settings of ${service.name}`} verb="Save" onSubmit={save} onClose={onClose}>
      <div className="settings">
        <label>
          State
          <select name="state" defaultValue={service.state} data-initial-focus>
            <Options texts={STATE_TEXTS} />
          </select>
        </label>
        <label>
          Updates
          <select name="update_strategy" defaultValue={service.update_strategy}>
            <option value="MODIFY">Items are modified</option>
            <option value="REPLACE">Items are removed and created again</option>
          </select>
        </label>
        <label>
          References to the items show
          <select name="references_see" defaultValue={service.references_see}>
            <Options texts={REFERENCES_TEXTS} />
          </select>
        </label>
        {CHECKS.map(([name, text]) => (
          <label key={name} className="check">
            <input type="checkbox" name={name} defaultChecked={service[name]} />
            <span>{text}</span>
          </label>
        ))}
        <label>
          Tags, separated by commas
          <input name="tags" defaultValue={service.tags.join(", ")} />
        </label>
        <label>
          Minimum version
          <input name="minimum_version" type="number" min={1} max={service.schema.version} defaultValue={service.minimum_version ?? ""} />
        </label>
      </div>
    </FormDialog>
  );
}

function Options({ texts }: { texts: Record<string, string> }) {
  return Object.entries(texts).map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
}

function changedSettings(service: Service, form: FormData): ServiceSettings {
  const tags = String(form.get("tags")).split(",").map((tag) => tag.trim()).filter((tag) => tag !== "");
  const entered = {
    state: form.get("state") as Service["state"],
    update_strategy: form.get("update_strategy") as Service["update_strategy"],
    references_see: form.get("references_see") as Service["references_see"],
    ...Object.fromEntries(CHECKS.map(([name]) => [name, form.get(name) === "on"])),
    tags,
    minimum_version: Number(form.get("minimum_version")) || null,
  };
  const changed = Object.entries(entered).filter(([name, value]) => {
    return JSON.stringify(value) !== JSON.stringify(service[name as keyof Service]);
  });
  return Object.fromEntries(changed);
}
