import { links } from "../../lib/links";
import { useSession } from "../../session/session";
import { Page } from "../../ui/page";

/** Explains that the application belongs to another team, or does not exist. */
export function Foreign({ id }: { id: number }) {
  const { role } = useSession();
  return (
    <Page title="Application not found">
      <p>The application does not exist, or it belongs to another team. Only its own team can open it.</p>
      {role === "serviceowner" && (
        <p>
          <a href={links.queue({ application: id })}>Show its changes in your queue</a>
        </p>
      )}
      <p>
        <a href={links.applications()}>Go to the applications of your team</a>
      </p>
    </Page>
  );
}
