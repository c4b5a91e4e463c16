import { type ReactNode, useState } from "react";
import type { Reply, Webhook } from "../../api/webhooks";
import { links } from "../../lib/links";
import { type Action, useAction } from "../../lib/use-action";
import type { Rights } from "../../session/access";
import { Age } from "../../ui/age";
import { ErrorNote } from "../../ui/error-note";
import { Facts } from "../../ui/facts";
import { NamedButton } from "../../ui/named-button";
import { Badge, StateBadge } from "../../ui/state-badge";
import { replyText } from "./reply-text";
import { WebhookFailures } from "./webhook-failures";

type Props = {
  webhook: Webhook;
  service: string;
  access: Rights;
  now: number;
  onTest: () => Promise<Reply>;
  onEdit: () => void;
  onRotate: () => void;
  onDelete: () => void;
};

/** Shows a webhook with its last result and its actions. */
export function WebhookCard({ webhook, service, access, now, onTest, onEdit, onRotate, onDelete }: Props) {
  const [reply, setReply] = useState<Reply | null>(null);
  const [isOpen, setOpen] = useState(false);
  const action = useAction();
  const test = () =>
    action.run(async () => {
      setReply(null);
      setReply(await onTest());
    });
  return (
    <li className="card">
      <div className="card-head">
        <h2>{webhook.name}</h2>
        {!webhook.active && <Badge icon="closed" tone="quiet" word="Paused" />}
        <LastReply reply={webhook.last_reply} now={now} />
      </div>
      {webhook.description && <p>{webhook.description}</p>}
      <WebhookFacts webhook={webhook} service={service} />
      <TestResult reply={reply} action={action} />
      <div className="actions">
        {!access.isReader && (
          <NamedButton name={webhook.name} onClick={() => void test()} isDisabled={action.isBusy}>
            Send a test
          </NamedButton>
        )}
        {access.isAdmin && (
          <>
            <NamedButton name={webhook.name} onClick={onEdit}>
              Change
            </NamedButton>
            <NamedButton name={webhook.name} onClick={onRotate}>
              Rotate secret
            </NamedButton>
            <NamedButton name={webhook.name} onClick={onDelete}>
              Delete
            </NamedButton>
          </>
        )}
        <button type="button" aria-expanded={isOpen} aria-label={`Failed deliveries of ${webhook.name}`} onClick={() => setOpen(!isOpen)}>
          Failed deliveries
        </button>
      </div>
      {isOpen && <WebhookFailures webhook={webhook} now={now} />}
    </li>
  );
}

function LastReply({ reply, now }: { reply: Reply | null; now: number }): ReactNode {
  if (!reply) return <span className="hint">No delivery in the last two weeks</span>;
  return (
    <>
      {reply.delivered ? <Badge icon="done" tone="good" word="Delivered" /> : <Badge icon="warning" tone="bad" word="Not delivered" />}
      <span className="hint">
        <Age time={reply.at} now={now} /> ago, attempt {reply.attempt}. {replyText(reply)}
      </span>
    </>
  );
}

function WebhookFacts({ webhook, service }: { webhook: Webhook; service: string }) {
  const state = webhook.change_instance_state;
  return (
    <Facts
      facts={[
        ["Service", webhook.service === null ? "All services" : <a href={links.service(webhook.service)}>{service}</a>],
        ["Receiver", <code key="url">{webhook.target_url}</code>],
        ["Delivers", state === null ? "every new change" : <StateBadge key="state" state={state} />],
        ["Authorization", webhook.authorization ? "A value is stored" : "None"],
        ["Wait before", seconds(webhook.trigger_wait_time)],
        ["Pause between", seconds(webhook.trigger_cooling_time)],
        ["Reminds after", seconds(webhook.remind_after ?? 0)],
        ["Timeout", seconds(webhook.timeout)],
      ]}
    />
  );
}

function seconds(count: number): string {
  return count === 0 ? "" : `${count} s`;
}

function TestResult({ reply, action }: { reply: Reply | null; action: Action }) {
  return (
    <>
      <p role="status" className={reply && !reply.delivered ? "field-error" : undefined}>
        {action.isBusy && "Sending a test…"}
        {reply && `${reply.delivered ? "The test was delivered." : "The test failed."} ${replyText(reply)}`}
      </p>
      {action.error && <ErrorNote error={action.error} />}
    </>
  );
}
