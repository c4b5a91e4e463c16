import { refreshTokens, type Tokens } from "./issuer/tokens";

/** The stored form of a credential. */
export type CredentialData = { key: string } | { tokens: Tokens };

/** Proves the identity of the caller. */
export type Credential = {
  isPerson: boolean;
  /** Returns the value of the header `Authorization`. */
  authorization: () => Promise<string>;
  /** Returns the newest data, because a refresh replaces the tokens. */
  data: () => CredentialData;
  /** Receives a notice after each refresh. */
  onRefresh: () => void;
};

/** Renewal starts this long before the end of a token. */
const MARGIN_MILLISECONDS = 30_000;

/** Returns the credential of stored or new data. */
export function createCredential(data: CredentialData): Credential {
  return "key" in data ? keyCredential(data.key) : personCredential(data.tokens);
}

function keyCredential(key: string): Credential {
  return { isPerson: false, authorization: async () => `Api-Key ${key}`, data: () => ({ key }), onRefresh: () => {} };
}

function personCredential(first: Tokens): Credential {
  let tokens = first;
  let refreshing: Promise<void> | null = null;
  const credential: Credential = {
    isPerson: true,
    authorization: async () => {
      if (isDue(tokens)) await (refreshing ??= refresh());
      return `Bearer ${tokens.bearer}`;
    },
    data: () => ({ tokens }),
    onRefresh: () => {},
  };
  // Issuers accept a refresh token once, so all requests wait for the same refresh.
  const refresh = async () => {
    try {
      tokens = await refreshTokens(tokens);
      credential.onRefresh();
    } catch {
      // The API rejects the old token as soon as it has ended, and that ends the session.
    } finally {
      refreshing = null;
    }
  };
  return credential;
}

function isDue({ refresh, expires }: Tokens): boolean {
  return refresh !== undefined && expires !== null && Date.now() > expires - MARGIN_MILLISECONDS;
}
