import { useCallback } from "react";
import { listOfferedServices, readApplication, readKeyRole } from "../../api/declaration";
import type { Service } from "../../api/types";
import { type Editor, useEditor } from "../../editor/use-editor";
import { useRoute } from "../../lib/route";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { ErrorNote } from "../../ui/error-note";
import { Page } from "../../ui/page";
import { ResourceStatus } from "../../ui/resource-status";
import { type Stored, useOpened } from "./use-opened";
import { Workbench } from "./workbench";

type Loaded = { application: Stored; services: Service[]; role: string | undefined };

/** Edits the declaration of an application as form and as text, with its plan. */
export function Edit() {
  const { query } = useRoute();
  const id = Number(query.get("application") ?? 0);
  return <EditApplication key={id} id={id} item={query.get("item") ?? undefined} />;
}

function EditApplication({ id, item }: { id: number; item: string | undefined }) {
  const api = useApi();
  const team = useSession().team?.name ?? "";
  const { editor, error } = useEditor();
  const load = useCallback(async (): Promise<Loaded> => {
    const [application, services, role] = await Promise.all([
      id ? readApplication(api, team, id) : null,
      listOfferedServices(api),
      readKeyRole(api),
    ]);
    return { application, services, role };
  }, [api, team, id]);
  const resource = useResource(load);
  const name = resource.data?.application?.name;
  return (
    <Page title={name === undefined ? (id ? "Edit and plan" : "New application") : `Edit ${name}`}>
      {error && <ErrorNote error={error} />}
      <ResourceStatus resource={resource} />
      {!editor && !error && !resource.isLoading && <p role="status">Loading…</p>}
      {editor && resource.data && <OpenedApplication editor={editor} item={item} {...resource.data} />}
    </Page>
  );
}

function OpenedApplication({ editor, item, application, services, role }: Loaded & { editor: Editor; item: string | undefined }) {
  const opened = useOpened(editor, application);
  return <Workbench editor={editor} opened={opened} services={services} role={role} item={item} />;
}
