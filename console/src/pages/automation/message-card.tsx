import type { Message } from "../../api/messages";
import { formatTime } from "../../lib/age";
import { links } from "../../lib/links";
import { Facts } from "../../ui/facts";
import { NamedButton } from "../../ui/named-button";
import { Badge } from "../../ui/state-badge";

type Props = { message: Message; isOwner: boolean; canWrite: boolean; onEdit: () => void; onDelete: () => void };

/** Shows a message with its services and its end. */
export function MessageCard({ message, isOwner, canWrite, onEdit, onDelete }: Props) {
  return (
    <li className="card">
      <blockquote className="message-text">{message.description}</blockquote>
      {message.has_expired && <Badge icon="closed" tone="quiet" word="Expired" />}
      <Facts
        facts={[
          ["From", isOwner ? "" : message.owner.name],
          ["Services", <Scopes key="scopes" message={message} />],
          ["Created", formatTime(message.created)],
          ["End", message.expiry_date === null ? "Never" : formatTime(message.expiry_date)],
        ]}
      />
      {canWrite && (
        <div className="actions">
          <NamedButton name={message.description} onClick={onEdit}>
            Change
          </NamedButton>
          <NamedButton name={message.description} onClick={onDelete}>
            Delete
          </NamedButton>
        </div>
      )}
    </li>
  );
}

function Scopes({ message }: { message: Message }) {
  if (message.scopes.length === 0) return "All services of the owner";
  return (
    <ul className="scope-list">
      {message.scopes.map(({ scope }) => (
        <li key={scope.id}>
          <a href={links.service(scope.id)}>{scope.name}</a>
        </li>
      ))}
    </ul>
  );
}
