import { useCallback } from "react";
import { listOwnUsers, type ServiceItem } from "../../api/service-items";
import { links } from "../../lib/links";
import { plural } from "../../lib/plural";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { LongList } from "../../ui/long-list";
import { ResourceStatus } from "../../ui/resource-status";

const SHORT = 10;

type Props = { itemId: number; uses: number };

/** Counts the items of other applications and teams that refer to an item, and lists those of the own team. */
export function Uses({ itemId, uses }: Props) {
  const { role } = useSession();
  return (
    <section aria-labelledby="uses">
      <h2 id="uses">In use</h2>
      <p>
        In use by {plural(uses, "item")} of other applications or teams. A removal of this item needs a confirmation.
      </p>
      {/* Another number of uses means other users, so the list loads again. */}
      {role === "consumer" && <OwnUsers key={uses} itemId={itemId} uses={uses} />}
    </section>
  );
}

function OwnUsers({ itemId, uses }: Props) {
  const api = useApi();
  const users = useResource(useCallback(() => listOwnUsers(api, itemId), [api, itemId]));
  if (!users.data) return <ResourceStatus resource={users} />;
  const others = uses - users.data.length;
  return (
    <>
      {users.data.length > 0 && <UserList users={users.data} />}
      {others > 0 && <p className="hint">{plural(others, "item")} of other teams.</p>}
    </>
  );
}

function UserList({ users }: { users: ServiceItem[] }) {
  return (
    <LongList rows={users} most={SHORT} noun="items" fewerText="Show fewer items">
      {(shown) => (
        <ul aria-label="Items of your team that refer to it">
          {shown.map(({ id, name, application, service }) => (
            <li key={id}>
              <a href={links.item(id)}>{name}</a>{" "}
              <span className="hint">
                {application.name} / {service.name}
              </span>
            </li>
          ))}
        </ul>
      )}
    </LongList>
  );
}
