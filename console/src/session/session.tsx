import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import type { Api } from "../api/client";
import type { ApiError } from "../api/errors";
import type { Access, Role, Team, TeamRef } from "../api/types";
import { type CredentialData, createCredential } from "./credential";
import { asSignInError } from "./issuer/failure";
import { finishSignIn, type Returned } from "./issuer/redirect";
import { clientOf, type OpenSession, openCredential, openTeam, storedForm, type TeamChoice } from "./start";
import { forgetSession, readSession, storeSession } from "./storage";

export type Session = {
  team: TeamRef | null;
  /** The teams of the caller: of a person before the choice, too. */
  teams: readonly Team[];
  role: Role;
  /** The rights of the caller in the team. */
  access: Access;
  api: Api | null;
  notice: string;
  /** Why the sign-in by the issuer failed. */
  failure: ApiError | null;
  /** Whether the sign-in by the issuer is not complete yet. */
  isOpening: boolean;
  signIn: (key: string, isStored: boolean) => Promise<void>;
  signOut: () => void;
  setRole: (role: Role) => void;
  chooseTeam: (team: Team) => Promise<void>;
};

const Context = createContext<Session | null>(null);
const KEY_ENDED = "The system no longer accepts this key. Sign in again.";
const TOKEN_ENDED = "Your sign-in has ended. Sign in again to continue on this page.";

type Props = { returned: Returned | null; children: ReactNode };

/** Holds the key or token in memory, and gives pages the client, the team and the role. */
export function SessionProvider({ returned, children }: Props) {
  const [open, setOpen] = useState<OpenSession | null>(() => (returned ? null : restore()));
  const [choice, setChoice] = useState<TeamChoice | null>(null);
  const [notice, setNotice] = useState("");
  const [failure, setFailure] = useState<ApiError | null>(null);
  const [isOpening, setOpening] = useState(returned !== null);

  const end = useCallback((text: string) => {
    forgetSession();
    setOpen(null);
    setChoice(null);
    setNotice(text);
  }, []);

  const start = useCallback(async (data: CredentialData, isStored: boolean) => {
    const next = await openCredential(data, isStored);
    setNotice("");
    setFailure(null);
    if ("team" in next) setOpen(next);
    else setChoice(next);
  }, []);

  useEffect(() => {
    if (!returned) return;
    const isStored = returned.started?.isStored ?? false;
    finishSignIn(returned)
      .then((tokens) => start({ tokens }, isStored))
      .catch((error: unknown) => setFailure(asSignInError(error)))
      .finally(() => setOpening(false));
  }, [returned, start]);

  useEffect(() => {
    if (!open?.isStored) return;
    const store = () => storeSession(storedForm(open));
    open.credential.onRefresh = store;
    store();
  }, [open]);

  const api = useMemo(() => {
    return open && clientOf(open, open.team, () => end(open.credential.isPerson ? TOKEN_ENDED : KEY_ENDED));
    // A change of the role keeps the client, so that pages do not read again.
  }, [open?.credential, open?.team, end]);

  const session: Session = {
    team: open?.team ?? null,
    teams: (open ?? choice)?.teams ?? [],
    role: open?.role ?? "consumer",
    access: open?.team.access ?? "READ_ONLY",
    api,
    notice,
    failure,
    isOpening,
    signIn: (key, isStored) => start({ key }, isStored),
    signOut: () => end(""),
    setRole: (role) => setOpen((current) => current && { ...current, role }),
    chooseTeam: async (team) => {
      const from = open ?? choice;
      if (from) setOpen(await openTeam({ credential: from.credential, teams: from.teams, isStored: from.isStored }, team));
      setChoice(null);
    },
  };
  return <Context.Provider value={session}>{children}</Context.Provider>;
}

/** Returns the session. */
export function useSession(): Session {
  const session = useContext(Context);
  if (!session) throw new Error("SessionProvider must be an ancestor");
  return session;
}

/** Returns the client of a signed-in team. */
export function useApi(): Api {
  const { api } = useSession();
  if (!api) throw new Error("the page needs a signed-in team");
  return api;
}

function restore(): OpenSession | null {
  const stored = readSession();
  return stored && { ...stored, credential: createCredential(stored.credential), isStored: true };
}
