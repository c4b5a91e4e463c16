import { useEffect, useState } from "react";
import { readPreference, writePreference } from "../lib/preferences";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** Returns the chosen theme and its setter. `system` follows the setting of the system. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(stored);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    writePreference("theme", theme);
  }, [theme]);
  return [theme, setTheme];
}

function stored(): Theme {
  const value = readPreference("theme");
  return THEMES.find((theme) => theme === value) ?? "system";
}
