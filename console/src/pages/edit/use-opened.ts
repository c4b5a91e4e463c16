import { useMemo } from "react";
import type { Api } from "../../api/client";
import { isObject } from "../../api/json";
import type { Json, JsonObject } from "../../api/types";
import type { Editor } from "../../editor/use-editor";
import { useApi } from "../../session/session";
import { type Draft, preferredFormat, readDraft } from "./drafts";

export type Stored = { name: string; content: JsonObject } | null;

export type Opened = {
  /** Identifies the draft. */
  key: string;
  /** Name of an existing application, which cannot change. */
  fixedName: string | undefined;
  value: Json;
  /** The text of the stored declaration. */
  stored: Draft;
  /** Unsaved edits of an earlier visit. */
  draft: Draft | undefined;
};

const NEW_NAME = "new-application";

/** Prepares the text of an application, or of a new one. */
export function useOpened(editor: Editor, application: Stored): Opened {
  const api = useApi();
  return useMemo(() => open(api, editor, application), [api, editor, application]);
}

function open(api: Api, editor: Editor, application: Stored): Opened {
  const value = application ? { [application.name]: readable(application.content) } : { [NEW_NAME]: { services: {} } };
  const format = preferredFormat();
  const key = application?.name ?? "";
  return {
    key,
    fixedName: application?.name,
    value,
    stored: { text: editor.formatValue(value, format), format },
    draft: readDraft(api, key),
  };
}

/** Writes `name` first in each item, because the export orders the members by their names. */
function readable(content: JsonObject): JsonObject {
  const services = isObject(content.services) ? content.services : {};
  const ordered = Object.entries(services).map(([service, items]) => [service, (items as JsonObject[]).map(nameFirst)]);
  return { ...content, services: Object.fromEntries(ordered) as JsonObject };
}

function nameFirst(item: JsonObject): JsonObject {
  const { name, ...others } = item;
  return name === undefined ? item : { name, ...others };
}
