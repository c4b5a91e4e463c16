import { useState } from "react";
import type { Healthcheck, HealthcheckBody } from "../../api/healthchecks";
import type { ServiceName } from "../../api/service-names";
import { FormDialog } from "../../ui/form-dialog";
import { CheckField, SelectField, TextField } from "../../ui/form-fields";
import { CredentialField, credentialValue } from "./credential-field";

type Props = {
  /** The healthcheck to change; null for a new one. */
  healthcheck: Healthcheck | null;
  /** Services without a healthcheck. */
  services: readonly ServiceName[];
  onSubmit: (body: HealthcheckBody) => Promise<void>;
  onClose: () => void;
};

/** Asks for the fields of a healthcheck. */
export function HealthcheckForm({ healthcheck, services, onSubmit, onClose }: Props) {
  const [service, setService] = useState(healthcheck ? String(healthcheck.service) : "");
  const [url, setUrl] = useState(healthcheck?.target_url ?? "");
  const [credential, setCredential] = useState({ value: "", isRemoved: false });
  const [isScheduled, setScheduled] = useState(healthcheck?.schedule_enabled ?? false);
  const [crontab, setCrontab] = useState(healthcheck?.schedule_crontab ?? "");
  const submit = () => {
    const given = credentialValue(credential);
    return onSubmit({
      service: Number(service),
      target_url: url.trim(),
      // A replacement without this field removes the stored value; its mask keeps it.
      authorization: given === undefined ? (healthcheck?.authorization ?? null) : given,
      schedule_enabled: isScheduled,
      schedule_crontab: crontab.trim() || null,
    });
  };
  const options = [{ value: "", text: "Select a service" }, ...services.map(({ id, name }) => ({ value: String(id), text: name }))];
  const title = healthcheck ? "Change healthcheck" : "Create healthcheck";
  return (
    <FormDialog title={title} verb={healthcheck ? "Save" : "Create"} onSubmit={submit} onClose={onClose}>
      {!healthcheck && <SelectField label="Service" required value={service} options={options} onChange={setService} />}
      <TextField
        label="URL"
        hint="It must be https at a public address. Every key of the team can read it."
        type="url"
        required
        maxLength={2048}
        value={url}
        onChange={setUrl}
      />
      <CredentialField credential={credential} hasStored={Boolean(healthcheck?.authorization)} onChange={setCredential} />
      <CheckField label="Run on a schedule" isChecked={isScheduled} onChange={setScheduled} />
      <TextField
        label="Crontab in UTC"
        hint="Minute, hour, day of the month, month, day of the week. Every five minutes: */5 * * * *"
        className="code"
        maxLength={256}
        required={isScheduled}
        value={crontab}
        onChange={setCrontab}
      />
    </FormDialog>
  );
}
