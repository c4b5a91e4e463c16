import { type FormEvent, useState } from "react";
import { type TeamSettings, updateTeamSettings } from "../../api/team";
import { useAction } from "../../lib/use-action";
import type { Rights } from "../../session/access";
import { useApi } from "../../session/session";
import { AccessNote } from "../../ui/access-note";
import { ErrorNote } from "../../ui/error-note";
import { Facts } from "../../ui/facts";
import { CheckField } from "../../ui/form-fields";

type Props = { settings: TeamSettings; access: Rights; onSaved: () => Promise<void> };

/** Shows the facts of the team, and changes its settings. */
export function Settings({ settings, access, onSaved }: Props) {
  const metadata = settings.metadata as object;
  const text = Object.keys(metadata).length > 0 ? JSON.stringify(metadata, null, 2) : "";
  return (
    <>
      <Facts
        facts={[
          ["Name", settings.name],
          ["Id", settings.id],
          ["Your role", settings.role],
          ["Metadata", text && <pre key="metadata" className="team-metadata">{text}</pre>],
        ]}
      />
      {access.isAdmin ? (
        <SettingsForm settings={settings} onSaved={onSaved} />
      ) : (
        <>
          <p>{settings.confirm_removals ? CONFIRMED : UNCONFIRMED}</p>
          <AccessNote access={access} what="Changing settings needs" />
        </>
      )}
    </>
  );
}

const CONFIRMED = "The removal of a whole application needs a confirmation.";
const UNCONFIRMED = "The removal of a whole application needs no confirmation.";

function SettingsForm({ settings, onSaved }: Omit<Props, "access">) {
  const api = useApi();
  const [isConfirmed, setConfirmed] = useState(settings.confirm_removals);
  const [isSaved, setSaved] = useState(false);
  const { run, isBusy, error } = useAction();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      await updateTeamSettings(api, settings.id, { confirm_removals: isConfirmed });
      await onSaved();
      setSaved(true);
    });
  };
  const change = (next: boolean) => {
    setConfirmed(next);
    setSaved(false);
  };
  return (
    <form onSubmit={submit} className="card">
      <CheckField label="Ask for a confirmation before a whole application is removed" isChecked={isConfirmed} onChange={change} />
      <p className="hint">
        A submission removes all items of an application that it names without items. If it is whole, it also removes each
        application that it does not name. With this setting, Dovetail refuses this without a confirmation.
      </p>
      {error && <ErrorNote error={error} />}
      <p className="page-actions">
        <button type="submit" className="primary" disabled={isBusy || isConfirmed === settings.confirm_removals}>
          Save
        </button>
        <span role="status">{isSaved && "Saved."}</span>
      </p>
    </form>
  );
}
