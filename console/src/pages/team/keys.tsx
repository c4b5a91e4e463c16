import { useCallback, useState } from "react";
import { type ApiKey, createKey, listKeys, type MadeApiKey, revokeKey, rotateKey } from "../../api/team";
import { useNow } from "../../lib/use-now";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";
import { SecretOnce } from "../../ui/secret-once";
import { Table } from "../../ui/table";
import { AdminStatus } from "./admin-status";
import { keyColumns } from "./key-columns";
import { CreateKey, RevokeKey, RotateKey } from "./key-dialogs";
import { isLastAdmin, noteCaller, usesOf } from "./own-key";

type Open = { dialog: "create" } | { dialog: "rotate" | "revoke"; key: ApiKey };

/** Lists the keys of the team; creates, rotates and revokes them. */
export function Keys() {
  const api = useApi();
  const list = useResource(useCallback(() => listKeys(api), [api]));
  const now = useNow();
  const [open, setOpen] = useState<Open | null>(null);
  const [made, setMade] = useState<MadeApiKey | null>(null);
  const keys = list.data ?? [];
  const uses = usesOf(keys, api, now);
  const useOf = (key: ApiKey) => uses.get(key.id) ?? "NO";
  const close = () => setOpen(null);
  const show = async (key: MadeApiKey) => {
    noteCaller(api, key.created_by);
    setMade(key);
    await list.refresh();
  };
  const revoke = async (key: ApiKey) => {
    await revokeKey(api, key.id);
    await list.refresh();
  };
  return (
    <>
      <AdminStatus resource={list} what="API keys need" />
      {list.data && (
        <>
          <p className="page-actions">
            <button type="button" className="primary" onClick={() => setOpen({ dialog: "create" })}>
              Create API key
            </button>
          </p>
          <Table
            caption="API keys"
            columns={keyColumns({
              now,
              useOf,
              onRotate: (key) => setOpen({ dialog: "rotate", key }),
              onRevoke: (key) => setOpen({ dialog: "revoke", key }),
            })}
            rows={keys}
            rowKey={(key) => key.id}
          />
        </>
      )}
      {open?.dialog === "create" && <CreateKey onSubmit={async (body) => show(await createKey(api, body))} onClose={close} />}
      {open?.dialog === "rotate" && (
        <RotateKey
          apiKey={open.key}
          use={useOf(open.key)}
          onSubmit={async (seconds) => show(await rotateKey(api, open.key.id, { overlap_seconds: seconds }))}
          onClose={close}
        />
      )}
      {open?.dialog === "revoke" && (
        <RevokeKey
          apiKey={open.key}
          use={useOf(open.key)}
          isLastAdmin={isLastAdmin(open.key, keys, now)}
          onConfirm={() => revoke(open.key)}
          onClose={close}
        />
      )}
      {made && (
        <SecretOnce title={`API key ${made.name}`} secrets={[{ name: "API key", value: made.key }]} onClose={() => setMade(null)} />
      )}
    </>
  );
}
