import { useState } from "react";
import type { AccessRole, Member } from "../../api/team";
import { FormDialog } from "../../ui/form-dialog";
import { SelectField, TextField } from "../../ui/form-fields";
import { ACCESS_ROLES } from "./access-roles";

export type MemberBody = { subject: string; name: string; role: AccessRole };

type Props = {
  /** The member to change; null for a new one. */
  member: Member | null;
  onSubmit: (body: MemberBody) => Promise<void>;
  onClose: () => void;
};

/** Asks for the subject, the name and the role of a member. The subject of a member cannot change. */
export function MemberForm({ member, onSubmit, onClose }: Props) {
  const [subject, setSubject] = useState(member?.subject ?? "");
  const [name, setName] = useState(member?.name ?? "");
  const [role, setRole] = useState<AccessRole>(member?.role ?? "GENERAL");
  const submit = () => onSubmit({ subject: subject.trim(), name: name.trim(), role });
  const title = member ? `Change ${member.name}` : "Add member";
  return (
    <FormDialog title={title} verb={member ? "Save" : "Add"} onSubmit={submit} onClose={onClose}>
      {!member && (
        <TextField
          label="Subject"
          hint="The claim sub of the person's tokens. A person without a team sees it when they sign in."
          required
          maxLength={255}
          value={subject}
          onChange={setSubject}
        />
      )}
      <TextField label="Name" hint="Histories show it." required maxLength={128} value={name} onChange={setName} />
      <SelectField label="Role" value={role} options={ACCESS_ROLES} onChange={setRole} />
    </FormDialog>
  );
}
