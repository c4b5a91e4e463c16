import { useSyncExternalStore } from "react";
import { mayLeave } from "./leave-guard";

export type Route = { path: string; query: URLSearchParams };

const subscribers = new Set<() => void>();

/** The address changes before its event, and a guard may take it back in between. So only the event changes the page. */
let current = location.hash;

addEventListener("hashchange", () => {
  if (location.hash === current) return;
  if (!mayLeave()) return history.pushState(null, "", current);
  current = location.hash;
  for (const onChange of [...subscribers]) onChange();
});

/** Returns the page and its parameters from the part of the URL after `#`. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => current);
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  return { path, query: new URLSearchParams(query) };
}

/** Returns a link to a page. Empty parameters are left out. */
export function linkTo(path: string, query: Record<string, string | number | undefined> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${path}${text && `?${text}`}`;
}

/** Opens a page. */
export function navigate(link: string): void {
  location.hash = link;
  announce();
}

/** Changes the parameters of the page, without a new entry in the history. */
export function replaceLink(link: string): void {
  history.replaceState(history.state, "", link);
  announce();
}

/**
 * Shows a new address at once. The browser sends its event later, and only for `location`: until then a checked box
 * would flicker, and a second filter would start from the filters before the first one.
 */
function announce(): void {
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function subscribe(onChange: () => void): () => void {
  subscribers.add(onChange);
  return () => subscribers.delete(onChange);
}
