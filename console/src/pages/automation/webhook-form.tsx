import { useState } from "react";
import type { ServiceName } from "../../api/service-names";
import type { ChangeState, Role } from "../../api/types";
import type { Webhook, WebhookBody } from "../../api/webhooks";
import { FormDialog } from "../../ui/form-dialog";
import { CheckField, type Option, SelectField, TextField } from "../../ui/form-fields";
import { CredentialField } from "./credential-field";
import { bodyOf, canRemind, draftOf, type WebhookDraft } from "./webhook-draft";

const STATES: readonly Option<ChangeState | "">[] = [
  { value: "", text: "A change is created, in any state" },
  { value: "PENDING", text: "A change becomes pending" },
  { value: "APPROVED", text: "A change becomes approved" },
  { value: "REJECTED", text: "A change becomes rejected" },
  { value: "ERRORED", text: "A change fails" },
  { value: "COMPLETED", text: "A change becomes completed" },
  { value: "CLOSED", text: "A change becomes closed" },
];

type Props = {
  role: Role;
  /** The webhook to change; null for a new one. */
  webhook: Webhook | null;
  services: readonly ServiceName[];
  onSubmit: (body: WebhookBody) => Promise<void>;
  onClose: () => void;
};

/** Asks for the fields of a webhook. */
export function WebhookForm({ role, webhook, services, onSubmit, onClose }: Props) {
  const [draft, setDraft] = useState(() => draftOf(webhook));
  const set = (change: Partial<WebhookDraft>) => setDraft((current) => ({ ...current, ...change }));
  const submit = () => onSubmit({ ...bodyOf(draft), ...(!webhook && draft.service && { service: Number(draft.service) }) });
  return (
    <FormDialog title={webhook ? "Change webhook" : "Create webhook"} verb={webhook ? "Save" : "Create"} onSubmit={submit} onClose={onClose}>
      {!webhook && <ServiceField role={role} value={draft.service} services={services} onChange={(service) => set({ service })} />}
      <TextField
        label="URL of the receiver"
        hint="It must be https at a public address. Every key of the team can read it."
        type="url"
        required
        maxLength={2048}
        value={draft.url}
        onChange={(url) => set({ url })}
      />
      <SelectField label="Deliver when" value={draft.state} options={STATES} onChange={(state) => set({ state })} />
      <TextField
        label="Name (optional)"
        hint="The name of the service is the default."
        maxLength={128}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <TextField label="Description (optional)" maxLength={1024} value={draft.description} onChange={(description) => set({ description })} />
      <CredentialField
        credential={draft.credential}
        hasStored={Boolean(webhook?.authorization)}
        onChange={(credential) => set({ credential })}
      />
      <Timing draft={draft} set={set} />
      {role === "serviceowner" && <Reminders draft={draft} set={set} />}
      <CheckField label="Active: Dovetail delivers events" isChecked={draft.isActive} onChange={(isActive) => set({ isActive })} />
    </FormDialog>
  );
}

type ServiceProps = { role: Role; value: string; services: readonly ServiceName[]; onChange: (value: string) => void };

function ServiceField({ role, value, services, onChange }: ServiceProps) {
  const isOwner = role === "serviceowner";
  const empty = { value: "", text: isOwner ? "Select a service" : "All services" };
  const options = [empty, ...services.map(({ id, name }) => ({ value: String(id), text: name }))];
  return <SelectField label="Service" required={isOwner} value={value} options={options} onChange={onChange} />;
}

type DraftProps = { draft: WebhookDraft; set: (change: Partial<WebhookDraft>) => void };

function Timing({ draft, set }: DraftProps) {
  const seconds = { type: "number", step: 1, required: true } as const;
  return (
    <fieldset className="check-list">
      <legend>Times in seconds</legend>
      <div className="field-row">
        <TextField {...seconds} label="Timeout" min={1} max={30} value={draft.timeout} onChange={(timeout) => set({ timeout })} />
        <TextField {...seconds} label="Wait before" min={0} max={900} value={draft.wait} onChange={(wait) => set({ wait })} />
        <TextField {...seconds} label="Pause between" min={0} max={900} value={draft.cooling} onChange={(cooling) => set({ cooling })} />
      </div>
      <p className="hint">Events within the pause share one delivery.</p>
    </fieldset>
  );
}

function Reminders({ draft, set }: DraftProps) {
  return (
    <TextField
      label="Remind after, in seconds (optional)"
      hint="Dovetail repeats the signal while a change waits in the state pending or approved, and no worker has claimed it."
      type="number"
      step={1}
      min={300}
      max={86400}
      disabled={!canRemind(draft.state)}
      value={draft.remindAfter}
      onChange={(remindAfter) => set({ remindAfter })}
    />
  );
}
