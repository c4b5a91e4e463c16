import { useCallback, useState } from "react";
import type { Role } from "../../api/types";
import {
  createWebhook,
  listWebhooks,
  type MadeWebhook,
  removeWebhook,
  rotateWebhook,
  triggerWebhook,
  updateWebhook,
  type Webhook,
  type WebhookBody,
} from "../../api/webhooks";
import { useNow } from "../../lib/use-now";
import { useResource } from "../../lib/use-resource";
import type { Rights } from "../../session/access";
import { useApi } from "../../session/session";
import { AccessNote } from "../../ui/access-note";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { SecretOnce } from "../../ui/secret-once";
import { CardList } from "./card-list";
import { useServiceNames } from "./use-service-names";
import { WebhookCard } from "./webhook-card";
import { WebhookForm } from "./webhook-form";

const POLL_SECONDS = 15;

type Open = { dialog: "form"; webhook: Webhook | null } | { dialog: "rotate" | "delete"; webhook: Webhook };

/** Lists the webhooks of the team in a role, and changes them. */
export function Webhooks({ role, access }: { role: Role; access: Rights }) {
  const api = useApi();
  const list = useResource(useCallback(() => listWebhooks(api, role), [api, role]), POLL_SECONDS);
  const { services, nameOf } = useServiceNames(role, "WITH_DEPENDENT");
  const now = useNow();
  const [open, setOpen] = useState<Open | null>(null);
  const [made, setMade] = useState<MadeWebhook | null>(null);
  const close = () => setOpen(null);

  const save = async (webhook: Webhook | null, body: WebhookBody) => {
    if (webhook) await updateWebhook(api, role, webhook.id, body);
    else setMade(await createWebhook(api, role, body));
    await list.refresh();
  };
  const test = async (webhook: Webhook) => {
    const reply = await triggerWebhook(api, role, webhook.id);
    await list.refresh();
    return reply;
  };
  const rotate = async (webhook: Webhook) => setMade(await rotateWebhook(api, role, webhook.id));
  const remove = async (webhook: Webhook) => {
    await removeWebhook(api, role, webhook.id);
    await list.refresh();
  };

  return (
    <>
      <p className="hint">A webhook sends an HTTPS request for changes {ROLE_TEXTS[role]}.</p>
      <AccessNote access={access} what="Creating and changing webhooks needs" />
      <CardList
        name="Webhooks"
        resource={list}
        emptyText="Your team has no webhook in this role."
        create={{ text: "Create webhook", onClick: () => setOpen({ dialog: "form", webhook: null }), isAllowed: access.isAdmin }}
      >
        {(list.data ?? []).map((webhook) => (
          <WebhookCard
            key={webhook.id}
            webhook={webhook}
            service={webhook.service === null ? "" : nameOf(webhook.service)}
            access={access}
            now={now}
            onTest={() => test(webhook)}
            onEdit={() => setOpen({ dialog: "form", webhook })}
            onRotate={() => setOpen({ dialog: "rotate", webhook })}
            onDelete={() => setOpen({ dialog: "delete", webhook })}
          />
        ))}
      </CardList>
      {open?.dialog === "form" && (
        <WebhookForm
          role={role}
          webhook={open.webhook}
          services={services}
          onSubmit={(body) => save(open.webhook, body)}
          onClose={close}
        />
      )}
      {open?.dialog === "rotate" && (
        <ConfirmDialog title={`Rotate the secret of ${open.webhook.name}?`} verb="Rotate" onConfirm={() => rotate(open.webhook)} onClose={close}>
          <p>The new secret is valid at once. Until you update the receiver, it refuses deliveries. Dovetail retries them.</p>
        </ConfirmDialog>
      )}
      {open?.dialog === "delete" && (
        <ConfirmDialog title={`Delete ${open.webhook.name}?`} verb="Delete" onConfirm={() => remove(open.webhook)} onClose={close}>
          <p>Dovetail drops the pending deliveries of this webhook. You cannot undo this.</p>
        </ConfirmDialog>
      )}
      {made && <WebhookSecrets webhook={made} onClose={() => setMade(null)} />}
    </>
  );
}

const ROLE_TEXTS: Record<Role, string> = { consumer: "of your items", serviceowner: "that your team decides" };

function WebhookSecrets({ webhook, onClose }: { webhook: MadeWebhook; onClose: () => void }) {
  const secrets = [
    { name: "Secret", value: webhook.secret, hint: "For receivers that verify the header Dovetail-Signature." },
    { name: "Secret for libraries", value: webhook.standard_webhooks_secret, hint: "The same secret for Standard Webhooks." },
  ];
  return <SecretOnce title={`Secret of ${webhook.name}`} secrets={secrets} onClose={onClose} />;
}
