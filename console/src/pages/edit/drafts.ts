import type { Api } from "../../api/client";
import type { TextFormat } from "../../editor/use-editor";
import { readPreference, writePreference } from "../../lib/preferences";

const PREFERENCE = "text-format";

export type Draft = { text: string; format: TextFormat };

/** Holds unsaved texts of each session. A client belongs to one session, so its drafts end with it. */
const drafts = new WeakMap<Api, Map<string, Draft>>();

/** Returns the unsaved text of an application. It never leaves the memory. */
export function readDraft(api: Api, application: string): Draft | undefined {
  return drafts.get(api)?.get(application);
}

/** Keeps the unsaved text of an application, or removes it. */
export function writeDraft(api: Api, application: string, draft: Draft | undefined): void {
  const ofSession = drafts.get(api) ?? new Map<string, Draft>();
  drafts.set(api, ofSession);
  if (draft) ofSession.set(application, draft);
  else ofSession.delete(application);
}

/** Returns the preferred format of the text. */
export function preferredFormat(): TextFormat {
  return readPreference(PREFERENCE) === "json" ? "json" : "yaml";
}

/** Keeps the format as the preferred one. */
export function preferFormat(format: TextFormat): void {
  writePreference(PREFERENCE, format);
}
