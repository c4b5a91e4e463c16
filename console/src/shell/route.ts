import { useSyncExternalStore } from "react";

export type Route = { path: string; query: URLSearchParams };

/** Returns the page and its parameters from the part of the URL after `#`. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
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
}

/** Changes the parameters of the page, without a new entry in the history. */
export function replaceLink(link: string): void {
  history.replaceState(history.state, "", link);
  // The browser sends this event later, and only for `location`. A checked box would flicker until then.
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function subscribe(onChange: () => void): () => void {
  addEventListener("hashchange", onChange);
  return () => removeEventListener("hashchange", onChange);
}
