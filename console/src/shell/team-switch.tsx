import { useState } from "react";
import { mayLeave } from "../lib/leave-guard";
import { links } from "../lib/links";
import { navigate } from "../lib/route";
import { useSession } from "../session/session";

/** Shows the team, and lets a person with several teams change it. */
export function TeamSwitch() {
  const { team, teams, chooseTeam } = useSession();
  const [hasFailed, setFailed] = useState(false);
  if (teams.length < 2) return <span className="team">{team?.name}</span>;
  const change = async (id: number) => {
    const next = teams.find((other) => other.id === id);
    if (!next || !mayLeave()) return;
    setFailed(false);
    try {
      await chooseTeam(next);
      // The objects of the page belong to the earlier team.
      navigate(links.home());
    } catch {
      setFailed(true);
    }
  };
  return (
    <label className="team-switch">
      <span className="hidden">Team</span>
      <select value={team?.id} onChange={(event) => void change(Number(event.target.value))}>
        {teams.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      {hasFailed && <span role="alert">The team could not be changed.</span>}
    </label>
  );
}
