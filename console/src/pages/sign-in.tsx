import { type FormEvent, useEffect, useState } from "react";
import { type DemoTeam, readSettings } from "../api/account";
import { type ApiError, asApiError } from "../api/errors";
import { useSession } from "../session/session";
import { Page } from "../shell/page";
import { ErrorNote } from "../ui/error-note";

/** Signs a team in with an API key, or with a key of the demo world. */
export function SignIn() {
  const { signIn, notice } = useSession();
  const [key, setKey] = useState("");
  const [isStored, setStored] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);

  const start = async (withKey: string) => {
    setBusy(true);
    setError(null);
    try {
      await signIn(withKey, isStored);
    } catch (failure) {
      setError(asApiError(failure));
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim()) void start(key.trim());
  };

  return (
    <Page title="Sign in">
      <div className="sign-in">
        {notice && <p className="note">{notice}</p>}
        {error && <ErrorNote error={error} />}
        <form onSubmit={submit} className="card">
          <label htmlFor="key">API key</label>
          <input
            id="key"
            type="password"
            autoComplete="off"
            required
            value={key}
            aria-describedby="key-hint"
            onChange={(event) => setKey(event.target.value)}
          />
          <p id="key-hint" className="hint">
            An administrator of your team creates keys. The console keeps the key in memory until you close or reload
            the page.
          </p>
          <label className="check">
            <input type="checkbox" checked={isStored} onChange={(event) => setStored(event.target.checked)} />
            Keep me signed in when I reload this tab
          </label>
          <button type="submit" className="primary" disabled={isBusy}>
            Sign in
          </button>
        </form>
        <DemoTeams isBusy={isBusy} onSelect={start} />
      </div>
    </Page>
  );
}

function DemoTeams({ isBusy, onSelect }: { isBusy: boolean; onSelect: (key: string) => void }) {
  const [teams, setTeams] = useState<DemoTeam[]>([]);
  useEffect(() => {
    let isCurrent = true;
    void readSettings().then((settings) => isCurrent && setTeams(settings.demo_teams ?? []));
    return () => {
      isCurrent = false;
    };
  }, []);
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
