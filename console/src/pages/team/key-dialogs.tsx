import { useState } from "react";
import type { AccessRole, ApiKey } from "../../api/team";
import { fromLocalInput } from "../../lib/local-time";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { FormDialog } from "../../ui/form-dialog";
import { SelectField, TextField } from "../../ui/form-fields";
import { ACCESS_ROLES } from "./access-roles";
import type { Use } from "./own-key";

type NewKey = { name: string; role: AccessRole; expires: string | null };

/** Asks for the name, the role and the end of a new key. */
export function CreateKey({ onSubmit, onClose }: { onSubmit: (key: NewKey) => Promise<void>; onClose: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<AccessRole>("GENERAL");
  const [end, setEnd] = useState("");
  const submit = () => onSubmit({ name: name.trim(), role, expires: fromLocalInput(end) });
  return (
    <FormDialog title="Create API key" verb="Create" onSubmit={submit} onClose={onClose}>
      <TextField
        label="Name"
        hint="Histories show it, so it stays reserved for good."
        required
        maxLength={128}
        value={name}
        onChange={setName}
      />
      <SelectField label="Role" value={role} options={ACCESS_ROLES} onChange={setRole} />
      <TextField label="Valid until (optional)" type="datetime-local" value={end} onChange={setEnd} />
    </FormDialog>
  );
}

const OVERLAPS = [
  { value: "0", text: "None: it ends at once" },
  { value: "3600", text: "1 hour" },
  { value: "86400", text: "1 day" },
  { value: "604800", text: "7 days" },
  { value: "2592000", text: "30 days" },
] as const;

type RotateProps = { apiKey: ApiKey; use: Use; onSubmit: (overlapSeconds: number) => Promise<void>; onClose: () => void };

/** Asks how long the old key stays valid next to its successor. */
export function RotateKey({ apiKey, use, onSubmit, onClose }: RotateProps) {
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]["value"]>("86400");
  return (
    <FormDialog title={`Rotate ${apiKey.name}`} verb="Rotate" onSubmit={() => onSubmit(Number(overlap))} onClose={onClose}>
      <p>Rotation creates a new key with the same name and role. A key rotates once.</p>
      {use !== "NO" && <p className="note">{USE_TEXTS[use]} Sign in with the new key before this one ends.</p>}
      <SelectField label="The old key stays valid for" value={overlap} options={OVERLAPS} onChange={setOverlap} />
    </FormDialog>
  );
}

type RevokeProps = { apiKey: ApiKey; use: Use; isLastAdmin: boolean; onConfirm: () => Promise<void>; onClose: () => void };

/** Asks before the revocation of a key. */
export function RevokeKey({ apiKey, use, isLastAdmin, onConfirm, onClose }: RevokeProps) {
  return (
    <ConfirmDialog title={`Revoke ${apiKey.name}?`} verb="Revoke" onConfirm={onConfirm} onClose={onClose}>
      <p>Programs with this key lose access within a minute. You cannot undo this.</p>
      {use !== "NO" && (
        <p className="note bad">
          {USE_TEXTS[use]} After the revocation, the console signs you out.
        </p>
      )}
      {isLastAdmin && (
        <p className="note bad">
          No other valid key of the team has the role ADMIN. Without an administrator, only the operator of Dovetail can
          create one.
        </p>
      )}
    </ConfirmDialog>
  );
}

const USE_TEXTS: Record<Exclude<Use, "NO">, string> = {
  YES: "You are signed in with this key.",
  MAYBE: "Perhaps you are signed in with this key. The console cannot find out which one you use.",
};
