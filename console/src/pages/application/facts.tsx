import { useCallback } from "react";
import { latestSubmission } from "../../api/application-items";
import type { Application } from "../../api/applications";
import { useNow } from "../../lib/use-now";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { links } from "../../shell/links";
import { Age } from "../../ui/age";
import { Facts } from "../../ui/facts";
import { ApplicationBadge } from "./badges";
import { StateCounts } from "./state-counts";

/** Shows owner, state, metadata and times of an application, with links to the pages around it. */
export function ApplicationFacts({ application }: { application: Application }) {
  const { role } = useSession();
  const now = useNow();
  const isConsumer = role === "consumer";
  return (
    <>
      <Facts
        facts={[
          ["State", <ApplicationBadge application={application} />],
          ["Open changes", <StateCounts application={application} />],
          ["Team", application.owner.name],
          ["Metadata", <Metadata metadata={application.metadata} />],
          ["Created", <Ago time={application.created} now={now} />],
          ["Changed", <Ago time={application.modified} now={now} />],
          ["Latest submission", isConsumer && <Submission id={application.id} />],
        ].filter(([, value]) => value !== false) as [string, React.ReactNode][]}
      />
      {isConsumer && !application.retired && (
        <p>
          <a className="button primary" href={links.edit(application.id)}>
            Edit application
          </a>
        </p>
      )}
    </>
  );
}

function Ago({ time, now }: { time: string; now: number }) {
  return (
    <>
      <Age time={time} now={now} /> ago
    </>
  );
}

function Metadata({ metadata }: { metadata: object }) {
  const entries = Object.entries(metadata);
  if (entries.length === 0) return "None";
  return (
    <ul className="metadata">
      {entries.map(([name, value]) => (
        <li key={name}>
          <code>{name}</code> {typeof value === "string" ? value : JSON.stringify(value)}
        </li>
      ))}
    </ul>
  );
}

function Submission({ id }: { id: number }) {
  const api = useApi();
  const { data, isLoading } = useResource(useCallback(() => latestSubmission(api, id), [api, id]));
  if (isLoading) return <span className="hint">Loading…</span>;
  if (data === undefined || data === null) return "Not known";
  return <a href={links.submission(data)}>Submission {data}</a>;
}
