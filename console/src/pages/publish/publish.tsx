import { useCallback } from "react";
import { readService } from "../../api/services";
import type { JsonObject } from "../../api/types";
import { useEditor } from "../../editor/use-editor";
import { definitionOf } from "../../lib/definition";
import { useRoute } from "../../lib/route";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";
import { ErrorNote } from "../../ui/error-note";
import { Page } from "../../ui/page";
import { ResourceStatus } from "../../ui/resource-status";
import { DefinitionEditor } from "./definition-editor";

/** Publishes a definition: a new service, or the next version of the service in the address. */
export function Publish() {
  const id = Number(useRoute().query.get("service")) || undefined;
  const api = useApi();
  const load = useCallback(
    async () => (id === undefined ? START : definitionOf(await readService(api, "serviceowner", id))),
    [api, id],
  );
  const definition = useResource<JsonObject>(load);
  const { editor, error } = useEditor();
  return (
    <Page title={id === undefined ? "Publish a service" : "Publish a new version"}>
      {error && <ErrorNote error={error} />}
      <ResourceStatus resource={definition} />
      {definition.data && !editor && !error && <p role="status">Loading…</p>}
      {definition.data && editor && <DefinitionEditor key={id ?? 0} definition={definition.data} editor={editor} />}
    </Page>
  );
}

/** Definition of a new service, with the property that every item needs. */
const START: JsonObject = {
  title: "",
  description: "",
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: { name: { type: "string" } },
};
