import { useEffect, useState } from "react";
import { ApiError } from "../api/errors";

export type { ParsedText, TextFormat, TextRange, ValidText } from "./index";
export type Editor = typeof import("./index");
export type EditorState = { editor: Editor | null; error: ApiError | null };

/** The formats of a text, for their switch. */
export const FORMATS = [
  { value: "yaml", text: "YAML" },
  { value: "json", text: "JSON" },
] as const;

let pending: Promise<Editor> | null = null;
let loaded: Editor | null = null;

/** Returns the components of `src/editor`, or none while they load. The browser loads them once, for all pages. */
export function useEditor(): EditorState {
  const [state, setState] = useState<EditorState>({ editor: loaded, error: null });
  useEffect(() => {
    let isMounted = true;
    loadEditor().then(
      (editor) => isMounted && setState({ editor, error: null }),
      () => isMounted && setState({ editor: null, error: new ApiError(0, "", FAILED) }),
    );
    return () => {
      isMounted = false;
    };
  }, []);
  return state;
}

const FAILED = "The editor did not load. Check the connection and reload the page.";

async function loadEditor(): Promise<Editor> {
  pending ??= import("./index");
  try {
    loaded = await pending;
    return loaded;
  } catch (error) {
    // A failed load must not stay: the next page tries again.
    pending = null;
    throw error;
  }
}
