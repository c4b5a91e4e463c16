import { useCallback, useEffect } from "react";
import { latestSubmission } from "../../api/application-items";
import { readApplication } from "../../api/applications";
import { links } from "../../lib/links";
import { useNow } from "../../lib/use-now";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { Age } from "../../ui/age";
import { Facts } from "../../ui/facts";
import { ResourceStatus } from "../../ui/resource-status";
import { ApplicationBadge } from "./badges";
import { StateCounts } from "./state-counts";

/** Shows owner, state, metadata and times of an application, with its latest submission. Reads them again for each revision. */
export function ApplicationFacts({ id, revision }: { id: number; revision: number }) {
  const api = useApi();
  const { role } = useSession();
  const application = useResource(useCallback(() => readApplication(api, role, id), [api, role, id]));
  const now = useNow();
  const { data, refresh } = application;
  useEffect(() => {
    if (revision > 0) void refresh();
  }, [revision, refresh]);
  if (!data) return <ResourceStatus resource={application} />;
  return (
    <Facts
      facts={[
        ["State", <ApplicationBadge application={data} />],
        ["Open changes", <StateCounts application={data} />],
        ["Team", data.owner.name],
        ["Metadata", <Metadata metadata={data.metadata} />],
        ["Created", <Ago time={data.created} now={now} />],
        ["Changed", <Ago time={data.modified} now={now} />],
        ["Latest submission", role === "consumer" ? <Submission id={id} revision={revision} /> : undefined],
      ]}
    />
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

function Submission({ id, revision }: { id: number; revision: number }) {
  const api = useApi();
  const { data, isLoading, refresh } = useResource(useCallback(() => latestSubmission(api, id), [api, id]));
  useEffect(() => {
    if (revision > 0) void refresh();
  }, [revision, refresh]);
  if (isLoading) return <span className="hint">Loading…</span>;
  if (data === undefined || data === null) return "Not known";
  return <a href={links.submission(data)}>Submission {data}</a>;
}
