import type { Access, Role } from "../api/types";
import { mayLeave } from "../lib/leave-guard";
import { links } from "../lib/links";
import { linkTo, navigate } from "../lib/route";
import { useSession } from "../session/session";
import { Segments } from "../ui/segments";
import { pagesFor } from "./pages";
import { TeamSwitch } from "./team-switch";
import { THEMES, useTheme } from "./theme";

const ROLES = [
  { value: "consumer", text: "Consumer" },
  { value: "serviceowner", text: "Service owner" },
] as const;

const THEME_TEXTS = { system: "System", light: "Light", dark: "Dark" };

/** Shows the team, the role, the pages of the role, and the theme. */
export function Header({ path }: { path: string }) {
  const { team, role, access, setRole, signOut } = useSession();
  const isOperator = access === "PLATFORM";
  const changeRole = (next: Role) => {
    if (!mayLeave()) return;
    setRole(next);
    navigate(links.home());
  };
  return (
    <header>
      <div className="bar">
        <a className="brand" href={links.home()}>
          Dovetail
        </a>
        {team && <Navigation path={path} role={role} access={access} />}
        <div className="bar-end">
          {team && !isOperator && <Segments legend="Role" value={role} options={ROLES} onChange={changeRole} />}
          <ThemeSwitch />
          {team && (
            <div className="who">
              <TeamSwitch />
              <button type="button" onClick={() => mayLeave() && signOut()}>
                Sign out
              </button>
            </div>
          )}
        </div>
      </div>
    </header>
  );
}

function Navigation({ path, role, access }: { path: string; role: Role; access: Access }) {
  return (
    <nav aria-label="Pages">
      {pagesFor(access).filter((page) => page.text && page.roles.includes(role)).map((page) => (
        <a key={page.path} href={linkTo(page.path)} aria-current={isBelow(path, page.path) ? "page" : undefined}>
          {page.text}
        </a>
      ))}
    </nav>
  );
}

/** Reports whether a page is the page of the link, or one below it. */
function isBelow(path: string, link: string): boolean {
  return path === link || (link !== "" && path.startsWith(`${link}/`));
}

function ThemeSwitch() {
  const [theme, setTheme] = useTheme();
  return (
    <label className="theme">
      <span>Theme</span>{" "}
      <select value={theme} onChange={(event) => setTheme(event.target.value as (typeof THEMES)[number])}>
        {THEMES.map((value) => (
          <option key={value} value={value}>
            {THEME_TEXTS[value]}
          </option>
        ))}
      </select>
    </label>
  );
}
