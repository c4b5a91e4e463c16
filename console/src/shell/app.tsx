import { type MouseEvent, type ReactNode, useRef } from "react";
import { useRoute } from "../lib/route";
import { ChooseTeam } from "../pages/sign-in/choose-team";
import { SignIn } from "../pages/sign-in/sign-in";
import { useSession } from "../session/session";
import { Tour } from "../tour/tour";
import { ErrorBoundary } from "./error-boundary";
import { Header } from "./header";
import { Missing } from "./missing";
import { findPage, homePath, type PageEntry, pagesFor } from "./pages";

/** Composes the landmarks, and selects the page of the route. */
export function App() {
  const route = useRoute();
  const { team, role, access } = useSession();
  const path = homePath(route.path, access);
  const main = useRef<HTMLElement>(null);
  const skip = (event: MouseEvent) => {
    // The part after `#` is the route, so the link itself must not change it.
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <>
      <a className="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <Header path={path} />
      <main id="main" ref={main} tabIndex={-1}>
        {team && <Tour key={team.id} isHome={route.path === ""} />}
        {team ? <Content key={`${team.id} ${role}`} path={path} /> : <Entrance />}
      </main>
    </>
  );
}

/** Shows the way to a signed-in team. */
function Entrance() {
  const { isOpening, teams } = useSession();
  if (isOpening) return <p role="status">Signing in…</p>;
  return teams.length > 0 ? <ChooseTeam /> : <SignIn />;
}

function Content({ path }: { path: string }): ReactNode {
  const { role, access } = useSession();
  const found = findPage(path);
  if (!found) return <Missing title="Page not found" text="The console has no page at this address." />;
  const { entry, id } = found;
  if (!pagesFor(access).includes(entry)) return <Missing title={entry.text ?? "Page"} text={otherAccess(entry)} />;
  if (!entry.roles.includes(role)) {
    return <Missing title={entry.text ?? "Page"} text={`This page belongs to the role of ${ROLE_TEXTS[entry.roles[0] ?? role]}.`} />;
  }
  return <ErrorBoundary key={path}>{entry.page(id)}</ErrorBoundary>;
}

function otherAccess(entry: PageEntry): string {
  return entry.isPlatform ? "This page needs a key with the role PLATFORM." : "This page belongs to a team. Your key is for operations.";
}

const ROLE_TEXTS = { consumer: "consumer", serviceowner: "service owner" };
