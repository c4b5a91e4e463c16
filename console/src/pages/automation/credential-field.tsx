import { CheckField, TextField } from "../../ui/form-fields";

export type Credential = { value: string; isRemoved: boolean };

type Props = { credential: Credential; hasStored: boolean; onChange: (credential: Credential) => void };

/** Asks for the header `Authorization`. A stored value is never shown; it stays, or is replaced, or removed. */
export function CredentialField({ credential, hasStored, onChange }: Props) {
  return (
    <>
      <TextField
        label="Authorization header (optional)"
        hint={hasStored ? "A value is stored. It stays if you leave this empty." : "For example: Bearer and a token."}
        type="password"
        autoComplete="new-password"
        maxLength={2048}
        disabled={credential.isRemoved}
        value={credential.value}
        onChange={(value) => onChange({ ...credential, value })}
      />
      {hasStored && (
        <CheckField
          label="Remove the stored value"
          isChecked={credential.isRemoved}
          onChange={(isRemoved) => onChange({ value: "", isRemoved })}
        />
      )}
    </>
  );
}

/** Returns the value for the API: null removes, undefined keeps. */
export function credentialValue({ value, isRemoved }: Credential): string | null | undefined {
  if (isRemoved) return null;
  return value === "" ? undefined : value;
}
