import { useCallback, useState } from "react";
import { addMember, listMembers, type Member, removeMember, updateMember } from "../../api/team";
import { useNow } from "../../lib/use-now";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { NamedButton } from "../../ui/named-button";
import { type Column, Table } from "../../ui/table";
import { AdminStatus } from "./admin-status";
import { Created } from "./key-columns";
import { type MemberBody, MemberForm } from "./member-form";
import { noteCaller } from "./own-key";

type Open = { dialog: "form"; member: Member | null } | { dialog: "remove"; member: Member };

/** Lists the members of the team; adds, changes and removes them. */
export function Members() {
  const api = useApi();
  const list = useResource(useCallback(() => listMembers(api), [api]));
  const now = useNow();
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const save = async (member: Member | null, { subject, name, role }: MemberBody) => {
    if (member) await updateMember(api, member.id, { name, role });
    else noteCaller(api, (await addMember(api, { subject, name, role })).created_by);
    await list.refresh();
  };
  const remove = async (member: Member) => {
    await removeMember(api, member.id);
    await list.refresh();
  };
  return (
    <>
      <AdminStatus resource={list} what="Members need" />
      {list.data && (
        <>
          <p className="hint">Members sign in with a token of the deployment's issuer, and act for the team in their role.</p>
          <p className="page-actions">
            <button type="button" className="primary" onClick={() => setOpen({ dialog: "form", member: null })}>
              Add member
            </button>
          </p>
          {list.data.length === 0 ? (
            <p className="empty">The team has no members.</p>
          ) : (
            <Table caption="Members" columns={columns(now, setOpen)} rows={list.data} rowKey={(member) => member.id} />
          )}
        </>
      )}
      {open?.dialog === "form" && <MemberForm member={open.member} onSubmit={(body) => save(open.member, body)} onClose={close} />}
      {open?.dialog === "remove" && (
        <ConfirmDialog title={`Remove ${open.member.name}?`} verb="Remove" onConfirm={() => remove(open.member)} onClose={close}>
          <p>The person loses access to the team within a minute. You can add the person again.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function columns(now: number, open: (next: Open) => void): Column<Member>[] {
  return [
    { id: "name", header: "Name", cell: (member) => <strong>{member.name}</strong> },
    { id: "subject", header: "Subject", label: "Subject", cell: (member) => <code>{member.subject}</code> },
    { id: "role", header: "Role", label: "Role", cell: (member) => member.role },
    { id: "created", header: "Added", label: "Added", cell: (member) => <Created time={member.created} by={member.created_by} now={now} /> },
    {
      id: "actions",
      header: "Actions",
      cell: (member) => (
        <div className="row-actions">
          <NamedButton name={member.name} onClick={() => open({ dialog: "form", member })}>
            Change
          </NamedButton>
          <NamedButton name={member.name} onClick={() => open({ dialog: "remove", member })}>
            Remove
          </NamedButton>
        </div>
      ),
    },
  ];
}
