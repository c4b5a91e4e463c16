import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import { listOwnServices, readTeam } from "../api/account";
import { type Api, createApi } from "../api/client";
import type { Role, TeamRef } from "../api/types";
import { forgetSession, readSession, type StoredSession, storeSession } from "./storage";

type SessionState = StoredSession & { isStored: boolean };

export type Session = {
  team: TeamRef | null;
  role: Role;
  api: Api | null;
  notice: string;
  signIn: (key: string, isStored: boolean) => Promise<void>;
  signOut: () => void;
  setRole: (role: Role) => void;
};

const Context = createContext<Session | null>(null);
const EXPIRED = "The system no longer accepts this key. Sign in again.";

/** Holds the key in memory, and gives pages the client, the team and the role. */
export function SessionProvider({ children }: { children: ReactNode }) {
  const [state, setState] = useState<SessionState | null>(restore);
  const [notice, setNotice] = useState("");

  const end = useCallback((text: string) => {
    forgetSession();
    setState(null);
    setNotice(text);
  }, []);

  const key = state?.key;
  const api = useMemo(() => (key === undefined ? null : createApi(key, () => end(EXPIRED))), [key, end]);

  const signIn = useCallback(async (newKey: string, isStored: boolean) => {
    const next = { ...(await openSession(newKey)), isStored };
    if (isStored) storeSession(next);
    setNotice("");
    setState(next);
  }, []);

  const setRole = useCallback((role: Role) => {
    setState((current) => {
      if (!current) return current;
      const next = { ...current, role };
      if (next.isStored) storeSession(next);
      return next;
    });
  }, []);

  const session: Session = {
    team: state?.team ?? null,
    role: state?.role ?? "consumer",
    api,
    notice,
    signIn,
    signOut: () => end(""),
    setRole,
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

/** Checks the key, and selects the role: a team with services starts as their owner. */
async function openSession(key: string): Promise<StoredSession> {
  const api = createApi(key, () => {});
  const team = await readTeam(api);
  const services = await listOwnServices(api, 1);
  return { key, team, role: services.length > 0 ? "serviceowner" : "consumer" };
}

function restore(): SessionState | null {
  const stored = readSession();
  return stored && { ...stored, isStored: true };
}
