import { useEffect, useState } from "react";
import { type ConsoleSettings, readSettings } from "../../api/account";
import { type ApiError, asApiError } from "../../api/errors";
import { asSignInError } from "../../session/issuer/failure";
import { startSignIn } from "../../session/issuer/redirect";
import { useSession } from "../../session/session";
import { Page } from "../../ui/page";
import { DemoTeams } from "./demo-teams";
import { IssuerForm } from "./issuer-form";
import { KeyForm } from "./key-form";
import { SignInFailure } from "./sign-in-failure";

/** Signs a team in by an API key, or a person by the issuer of the organisation. */
export function SignIn() {
  const { signIn, notice, failure } = useSession();
  const settings = useSettings();
  const [isStored, setStored] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const shown = error ?? failure;
  const { issuer, client_id } = settings;

  const attempt = async (work: () => Promise<void>, convert: (failure: unknown) => ApiError) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (thrown) {
      setError(convert(thrown));
      setBusy(false);
    }
  };
  const withKey = (key: string) => void attempt(() => signIn(key, isStored), asApiError);

  return (
    <Page title="Sign in">
      <div className="sign-in">
        {notice && <p className="note">{notice}</p>}
        {shown && <SignInFailure error={shown} />}
        {issuer && client_id && (
          <IssuerForm
            isBusy={isBusy}
            onSubmit={() => void attempt(() => startSignIn({ ...settings, issuer, client_id }, isStored), asSignInError)}
          />
        )}
        <KeyForm isBusy={isBusy} isFirst={!issuer} onSubmit={withKey} />
        <label className="check">
          <input type="checkbox" checked={isStored} onChange={(event) => setStored(event.target.checked)} />
          Keep me signed in when I reload this tab
        </label>
        <DemoTeams teams={settings.demo_teams ?? []} isBusy={isBusy} onSelect={withKey} />
      </div>
    </Page>
  );
}

function useSettings(): ConsoleSettings {
  const [settings, setSettings] = useState<ConsoleSettings>({});
  useEffect(() => {
    let isCurrent = true;
    void readSettings().then((read) => isCurrent && setSettings(read));
    return () => {
      isCurrent = false;
    };
  }, []);
  return settings;
}
