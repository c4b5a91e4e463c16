import { useEffect } from "react";

let question: string | null = null;

/** Asks the user whether to leave unsaved edits, if there are any. Returns true if the page may close. */
export function mayLeave(): boolean {
  if (question !== null && !confirm(question)) return false;
  question = null;
  return true;
}

/** Asks before the user leaves the page with unsaved edits. `text` is the question, null without such edits. */
export function useLeaveGuard(text: string | null): void {
  useEffect(() => {
    question = text;
    if (text === null) return;
    const here = location.hash;
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    const onHashChange = (event: Event) => {
      if (location.hash === here || mayLeave()) return;
      // The buttons of the browser change the address first, so it is put back before the router sees it.
      event.stopImmediatePropagation();
      history.pushState(null, "", here);
    };
    addEventListener("beforeunload", onUnload);
    addEventListener("hashchange", onHashChange, { capture: true });
    document.addEventListener("click", onLink, { capture: true });
    return () => {
      question = null;
      removeEventListener("beforeunload", onUnload);
      removeEventListener("hashchange", onHashChange, { capture: true });
      document.removeEventListener("click", onLink, { capture: true });
    };
  }, [text]);
}

/** Asks before the address changes, because a page could be rendered between the click and the event. */
function onLink(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.("a[href^='#/']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || mayLeave()) return;
  event.preventDefault();
  event.stopPropagation();
}
