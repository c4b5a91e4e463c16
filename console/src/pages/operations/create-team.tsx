import { useState } from "react";
import type { NewTeam } from "../../api/platform";
import { FormDialog } from "../../ui/form-dialog";
import { CheckField, TextField } from "../../ui/form-fields";

type Props = { onSubmit: (team: NewTeam) => Promise<void>; onClose: () => void };

/** Asks for the name of a new team and of its first key. */
export function CreateTeam({ onSubmit, onClose }: Props) {
  const [name, setName] = useState("");
  const [keyName, setKeyName] = useState("");
  const [needsConfirmation, setNeedsConfirmation] = useState(true);
  const submit = () => {
    const key_name = keyName.trim();
    return onSubmit({ name: name.trim(), confirm_removals: needsConfirmation, ...(key_name && { key_name }) });
  };
  return (
    <FormDialog title="Create team" verb="Create" onSubmit={submit} onClose={onClose}>
      <TextField label="Name" required maxLength={128} data-initial-focus value={name} onChange={setName} />
      <TextField
        label="Name of the first API key (optional)"
        hint="Histories show it. Without a name, it is the name of the team with “-1”."
        value={keyName}
        onChange={setKeyName}
      />
      <CheckField
        label="The removal of a whole application needs a confirmation"
        isChecked={needsConfirmation}
        onChange={setNeedsConfirmation}
      />
    </FormDialog>
  );
}
