import { useState } from "react";
import type { Message, MessageBody } from "../../api/messages";
import type { ServiceName } from "../../api/service-names";
import { fromLocalInput, toLocalInput } from "../../lib/local-time";
import { FormDialog } from "../../ui/form-dialog";
import { CheckField, TextArea, TextField } from "../../ui/form-fields";

type Props = {
  /** The message to change; null for a new one. */
  message: Message | null;
  services: readonly ServiceName[];
  onSubmit: (body: MessageBody) => Promise<void>;
  onClose: () => void;
};

/** Asks for the text, the end and the services of a message. */
export function MessageForm({ message, services, onSubmit, onClose }: Props) {
  const [text, setText] = useState(message?.description ?? "");
  const [end, setEnd] = useState(toLocalInput(message?.expiry_date ?? null));
  const [scopes, setScopes] = useState<readonly number[]>(message?.scopes.map(({ scope }) => scope.id) ?? []);
  const submit = () => onSubmit({ description: text.trim(), expiry_date: fromLocalInput(end), scopes: [...scopes] });
  const toggle = (id: number, isChecked: boolean) => setScopes(isChecked ? [...scopes, id] : scopes.filter((other) => other !== id));
  const title = message ? "Change message" : "Create message";
  return (
    <FormDialog title={title} verb={message ? "Save" : "Create"} onSubmit={submit} onClose={onClose}>
      <TextArea label="Text for the consumers" required maxLength={1024} value={text} onChange={setText} />
      <TextField
        label="End (optional)"
        hint="After this time, consumers no longer see the message."
        type="datetime-local"
        value={end}
        onChange={setEnd}
      />
      <fieldset className="check-list">
        <legend>Services</legend>
        {services.map(({ id, name }) => (
          <CheckField key={id} label={name} isChecked={scopes.includes(id)} onChange={(isChecked) => toggle(id, isChecked)} />
        ))}
        <p className="hint">Without a selected service, the message is for the consumers of all your services.</p>
      </fieldset>
    </FormDialog>
  );
}
