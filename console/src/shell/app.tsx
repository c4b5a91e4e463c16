import { type MouseEvent, type ReactNode, useRef } from "react";
import { Home } from "../pages/home/home";
import { Queue } from "../pages/queue/queue";
import { SignIn } from "../pages/sign-in";
import { useSession } from "../session/session";
import { Header } from "./header";
import { Page } from "./page";
import { linkTo, useRoute } from "./route";

/** Composes the landmarks, and selects the page of the route. */
export function App() {
  const route = useRoute();
  const { team, role } = useSession();
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
      <Header path={route.path} />
      <main id="main" ref={main} tabIndex={-1}>
        {team ? <Content key={`${team.id} ${role}`} path={route.path} /> : <SignIn />}
      </main>
    </>
  );
}

function Content({ path }: { path: string }): ReactNode {
  const { role } = useSession();
  if (path === "") return <Home />;
  if (path === "queue" && role === "serviceowner") return <Queue />;
  if (path === "queue") return <Missing title="Queue" text="The queue belongs to the role of service owner." />;
  return <Missing title="Page not found" text="The console has no page at this address." />;
}

function Missing({ title, text }: { title: string; text: string }) {
  return (
    <Page title={title}>
      <p>{text}</p>
      <p>
        <a href={linkTo("")}>Go to the home page</a>
      </p>
    </Page>
  );
}
