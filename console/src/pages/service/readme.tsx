import { useCallback } from "react";
import { readDocs } from "../../api/services";
import type { Service } from "../../api/types";
import { useEditor } from "../../editor/use-editor";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { ErrorNote } from "../../ui/error-note";
import { ResourceStatus } from "../../ui/resource-status";

/** Shows the documentation of a service. */
export function Readme({ service }: { service: Service }) {
  if (!service.has_md) return <p className="empty">The service has no documentation.</p>;
  return <Docs id={service.id} />;
}

function Docs({ id }: { id: number }) {
  const api = useApi();
  const { role } = useSession();
  const docs = useResource(useCallback(() => readDocs(api, role, id), [api, role, id]));
  const { editor, error } = useEditor();
  if (error) return <ErrorNote error={error} />;
  if (!docs.data || !editor) return docs.data ? <p role="status">Loading…</p> : <ResourceStatus resource={docs} />;
  return (
    <>
      <h2 className="hidden">Documentation</h2>
      <editor.Markdown text={docs.data.md_file} />
    </>
  );
}
