/** Reads a display preference. A browser without storage has none. */
export function readPreference(name: string): string | null {
  try {
    return localStorage.getItem(`dovetail.${name}`);
  } catch {
    return null;
  }
}

/** Stores a display preference. API keys never come here. */
export function writePreference(name: string, value: string): void {
  try {
    localStorage.setItem(`dovetail.${name}`, value);
  } catch {
    // The preference then lasts until the page closes.
  }
}
