import { type ReactNode, useCallback } from "react";
import { readTeamSettings } from "../../api/team";
import { useResource } from "../../lib/use-resource";
import { useRights } from "../../session/access";
import { useApi, useSession } from "../../session/session";
import { AccessNote } from "../../ui/access-note";
import { Page } from "../../ui/page";
import { ResourceStatus } from "../../ui/resource-status";
import { Tabs } from "../../ui/tabs";
import { AuditLog } from "./audit-log";
import { Keys } from "./keys";
import { Members } from "./members";
import { Settings } from "./settings";

/** Shows the team, and lets administrators manage its settings, keys and members. */
export function Team() {
  const api = useApi();
  const { team } = useSession();
  const id = team?.id ?? 0;
  const settings = useResource(useCallback(() => readTeamSettings(api, id), [api, id]));
  const loaded = settings.data;
  const access = useRights();
  // Without the role, each of these requests would be 403.
  const forAdmins = (what: string, content: () => ReactNode) => () =>
    access.isAdmin ? content() : <AccessNote access={access} what={what} />;
  return (
    <Page title="Team">
      <ResourceStatus resource={settings} />
      {loaded && (
        <Tabs
          label="Parts of the team"
          tabs={[
            {
              id: "settings",
              text: "Settings",
              content: () => <Settings settings={loaded} access={access} onSaved={settings.refresh} />,
            },
            { id: "keys", text: "API keys", content: forAdmins("API keys need", () => <Keys />) },
            { id: "members", text: "Members", content: forAdmins("Members need", () => <Members />) },
            { id: "audit", text: "Audit log", content: forAdmins("The audit log needs", () => <AuditLog />) },
          ]}
        />
      )}
    </Page>
  );
}
