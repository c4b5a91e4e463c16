import { useCallback, useState } from "react";
import { createTeam, listAllTeams, type MadeTeam, type NewTeam, type PlatformTeam } from "../../api/platform";
import { plural } from "../../lib/plural";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";
import { ResourceStatus } from "../../ui/resource-status";
import { SecretOnce } from "../../ui/secret-once";
import { type Column, Table } from "../../ui/table";
import { CreateTeam } from "./create-team";

const COLUMNS: Column<PlatformTeam>[] = [
  { id: "id", header: "Id", label: "Id", cell: (team) => team.id },
  { id: "name", header: "Name", cell: (team) => <strong>{team.name}</strong> },
  { id: "confirm", header: "Removals need a confirmation", label: "Confirmation", cell: (team) => (team.confirm_removals ? "Yes" : "No") },
];

/** Lists all teams, and creates teams. */
export function Teams() {
  const api = useApi();
  const [pages, setPages] = useState(1);
  const teams = useResource(useCallback(() => listAllTeams(api, pages), [api, pages]));
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<MadeTeam | null>(null);
  const create = async (body: NewTeam) => {
    setMade(await createTeam(api, body));
    await teams.refresh();
  };
  return (
    <section aria-labelledby="teams">
      <h2 id="teams">Teams</h2>
      <ResourceStatus resource={teams} />
      {teams.data && (
        <>
          <p className="page-actions">
            {plural(teams.data.count ?? teams.data.rows.length, "team")}{" "}
            <button type="button" onClick={() => setCreating(true)}>
              Create team
            </button>
          </p>
          <Table caption="Teams" columns={COLUMNS} rows={teams.data.rows} rowKey={(team) => team.id} />
        </>
      )}
      {teams.data?.hasMore && (
        <button type="button" onClick={() => setPages(pages + 1)}>
          Show more teams
        </button>
      )}
      {isCreating && <CreateTeam onSubmit={create} onClose={() => setCreating(false)} />}
      {made && (
        <SecretOnce
          title={`${made.name} is created`}
          secrets={[{ name: "API key", value: made.api_key.key, hint: `${made.api_key.name}, with the role ADMIN` }]}
          onClose={() => setMade(null)}
        >
          <p>Give this key to an administrator of the team, who can create more keys and members.</p>
        </SecretOnce>
      )}
    </section>
  );
}
