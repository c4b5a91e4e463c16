import type { ApiKey } from "../../api/team";
import { formatTime } from "../../lib/age";
import { Age } from "../../ui/age";
import { NamedButton } from "../../ui/named-button";
import { Badge } from "../../ui/state-badge";
import type { Column } from "../../ui/table";
import { isValid, type Use } from "./own-key";

type Actions = {
  now: number;
  useOf: (key: ApiKey) => Use;
  onRotate: (key: ApiKey) => void;
  onRevoke: (key: ApiKey) => void;
};

/** Defines the columns of the list of keys. */
export function keyColumns({ now, useOf, onRotate, onRevoke }: Actions): Column<ApiKey>[] {
  return [
    { id: "name", header: "Name", cell: (key) => <Name apiKey={key} use={useOf(key)} now={now} /> },
    { id: "role", header: "Role", label: "Role", cell: (key) => key.role },
    { id: "created", header: "Created", label: "Created", cell: (key) => <Created time={key.created} by={key.created_by} now={now} /> },
    { id: "expires", header: "Valid until", label: "Valid until", cell: (key) => (key.expires ? formatTime(key.expires) : "No end") },
    {
      id: "actions",
      header: "Actions",
      cell: (key) => (
        <div className="row-actions">
          {key.successor === null && isValid(key, now) && (
            <NamedButton name={key.name} onClick={() => onRotate(key)}>
              Rotate
            </NamedButton>
          )}
          <NamedButton name={key.name} onClick={() => onRevoke(key)}>
            Revoke
          </NamedButton>
        </div>
      ),
    },
  ];
}

function Name({ apiKey, use, now }: { apiKey: ApiKey; use: Use; now: number }) {
  return (
    <span className="key-name">
      <strong>{apiKey.name}</strong>
      {use === "YES" && <Badge icon="check" tone="active" word="In use here" />}
      {apiKey.successor !== null && <Badge icon="arrow" tone="quiet" word="Rotated" />}
      {!isValid(apiKey, now) && <Badge icon="closed" tone="quiet" word="Expired" />}
    </span>
  );
}

/** Shows when and by whom something was created. */
export function Created({ time, by, now }: { time: string; by: string; now: number }) {
  return (
    <>
      <Age time={time} now={now} /> ago <span className="hint">by {by}</span>
    </>
  );
}
