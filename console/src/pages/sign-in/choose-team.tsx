import { useAction } from "../../lib/use-action";
import { ACCESS_TEXTS } from "../../session/access";
import { useSession } from "../../session/session";
import { ErrorNote } from "../../ui/error-note";
import { Page } from "../../ui/page";

/** Asks a person with several teams for one of them. */
export function ChooseTeam() {
  const { teams, chooseTeam, signOut } = useSession();
  const { run, isBusy, error } = useAction();
  return (
    <Page title="Choose a team">
      <p>You are a member of several teams. You can change the team later, at the top of each page.</p>
      {error && <ErrorNote error={error} />}
      <ul className="team-choice">
        {teams.map((team) => (
          <li key={team.id}>
            <button type="button" disabled={isBusy} onClick={() => void run(() => chooseTeam(team))}>
              <strong>{team.name}</strong> <span className="hint">{ACCESS_TEXTS[team.access]}</span>
            </button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={signOut}>
        Cancel
      </button>
    </Page>
  );
}
