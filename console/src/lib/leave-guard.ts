import { useLayoutEffect } from "react";

let question: string | null = null;

/** Asks the user whether to leave unsaved edits, if there are any. Returns true if another page may follow. */
export function mayLeave(): boolean {
  if (question !== null && !confirm(question)) return false;
  question = null;
  return true;
}

/**
 * Asks before the user leaves the page with unsaved edits. `text` is the question, null without such edits. The router
 * asks if the buttons of the browser change the address.
 */
export function useLeaveGuard(text: string | null): void {
  // A submission opens the next page right after the edits end, so a later effect would still ask.
  useLayoutEffect(() => {
    question = text;
    if (text === null) return;
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", onUnload);
    document.addEventListener("click", onLink, { capture: true });
    return () => {
      question = null;
      removeEventListener("beforeunload", onUnload);
      document.removeEventListener("click", onLink, { capture: true });
    };
  }, [text]);
}

/** Asks before a link changes the address, so that a refusal leaves no trace in the history. */
function onLink(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.("a[href^='#/']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || mayLeave()) return;
  event.preventDefault();
  event.stopPropagation();
}
