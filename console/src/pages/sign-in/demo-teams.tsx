import type { DemoTeam } from "../../api/account";

type Props = { teams: readonly DemoTeam[]; isBusy: boolean; onSelect: (key: string) => void };

/** Offers the teams of the demo world, which only a local system names. */
export function DemoTeams({ teams, isBusy, onSelect }: Props) {
  if (teams.length === 0) return null;
  return (
    <section className="card" aria-labelledby="demo">
      <h2 id="demo">Demo teams</h2>
      <p className="hint">This local system has demo teams. Select one to sign in with its key.</p>
      <ul className="demo-teams">
        {teams.map(({ team, key }) => (
          <li key={team}>
            <button type="button" disabled={isBusy} onClick={() => onSelect(key)}>
              {team}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
