import { useCallback, useState } from "react";
import { createMessage, listMessages, type Message, type MessageBody, removeMessage, updateMessage } from "../../api/messages";
import type { Role } from "../../api/types";
import { useResource } from "../../lib/use-resource";
import type { Rights } from "../../session/access";
import { useApi } from "../../session/session";
import { AccessNote } from "../../ui/access-note";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { CardList } from "./card-list";
import { MessageCard } from "./message-card";
import { MessageForm } from "./message-form";
import { useServiceNames } from "./use-service-names";

type Open = { dialog: "form"; message: Message | null } | { dialog: "delete"; message: Message };

/** Lists messages: an owner writes its own, a consumer reads those for its items. */
export function Messages({ role, access }: { role: Role; access: Rights }) {
  const api = useApi();
  const list = useResource(useCallback(() => listMessages(api, role), [api, role]));
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const isOwner = role === "serviceowner";
  const canWrite = isOwner && access.isAdmin;
  const save = async (message: Message | null, body: MessageBody) => {
    await (message ? updateMessage(api, message.id, body) : createMessage(api, body));
    await list.refresh();
  };
  const remove = async (message: Message) => {
    await removeMessage(api, message.id);
    await list.refresh();
  };
  const rows = list.data?.rows ?? [];
  return (
    <>
      <p className="hint">{isOwner ? OWNER_TEXT : CONSUMER_TEXT}</p>
      {isOwner && <AccessNote access={access} what="Creating and changing messages needs" />}
      <CardList
        name="Messages"
        resource={list}
        emptyText="There is no message."
        create={{ text: "Create message", onClick: () => setOpen({ dialog: "form", message: null }), isAllowed: canWrite }}
      >
        {rows.map((message) => (
          <MessageCard
            key={message.id}
            message={message}
            isOwner={isOwner}
            canWrite={canWrite}
            onEdit={() => setOpen({ dialog: "form", message })}
            onDelete={() => setOpen({ dialog: "delete", message })}
          />
        ))}
      </CardList>
      {list.data?.hasMore && <p className="hint">The newest {rows.length} messages are shown.</p>}
      {open?.dialog === "form" && (
        <OwnersForm message={open.message} onSubmit={(body) => save(open.message, body)} onClose={close} />
      )}
      {open?.dialog === "delete" && (
        <ConfirmDialog title="Delete the message?" verb="Delete" onConfirm={() => remove(open.message)} onClose={close}>
          <blockquote>{open.message.description}</blockquote>
          <p>Consumers no longer see it. You cannot undo this.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

const OWNER_TEXT = "A message announces something to the consumers of your services, for example maintenance.";
const CONSUMER_TEXT = "Service owners announce something for your items here, for example maintenance.";

type FormProps = { message: Message | null; onSubmit: (body: MessageBody) => Promise<void>; onClose: () => void };

/** Reads the services only for the form: the list names its services itself. */
function OwnersForm(props: FormProps) {
  const { services } = useServiceNames("serviceowner", "OWN");
  return <MessageForm {...props} services={services} />;
}
