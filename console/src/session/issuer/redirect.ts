import * as oauth from "oauth4webapi";
import type { IssuerSettings } from "../../api/account";
import { baseUrl } from "../../api/client";
import { ApiError } from "../../api/errors";
import { replaceLink } from "../../lib/route";
import { discover } from "./settings";
import { exchangeCode, type Tokens } from "./tokens";

type Started = {
  settings: IssuerSettings;
  state: string;
  nonce: string;
  verifier: string;
  /** The page before the redirect: the part of the address after `#`. */
  route: string;
  isStored: boolean;
};

/** The answer of the issuer in the address, and the values from before the redirect, if this tab has them. */
export type Returned = { parameters: URLSearchParams; started: Started | null };

const NAME = "dovetail.redirect";

/** Sends the browser to the issuer, by the authorization code flow with PKCE (RFC 7636). */
export async function startSignIn(settings: IssuerSettings, isStored: boolean): Promise<void> {
  const { server } = await discover(settings);
  if (!server.authorization_endpoint) throw new ApiError(0, "", "The issuer has no authorization endpoint.");
  const started: Started = {
    settings,
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    route: location.hash,
    isStored,
  };
  const url = new URL(server.authorization_endpoint);
  for (const [name, value] of Object.entries(await parametersOf(started))) url.searchParams.set(name, value);
  // The values must outlive the redirect, and only this tab may read them.
  sessionStorage.setItem(NAME, JSON.stringify(started));
  location.assign(url);
}

/** Takes the answer of the issuer out of the address and out of the storage, and opens the page from before the redirect. */
export function takeReturn(): Returned | null {
  const parameters = new URLSearchParams(location.search);
  const isAnswer = parameters.has("state") && (parameters.has("code") || parameters.has("error"));
  const started = readStarted();
  // A user may come back without an answer, for example by the button of the browser.
  sessionStorage.removeItem(NAME);
  if (!isAnswer) return null;
  // A code in the address would stay in the history of the browser.
  replaceLink(redirectUri() + (started?.route ?? ""));
  return { parameters, started };
}

/** Checks the answer of the issuer, and exchanges its code for tokens. */
export async function finishSignIn({ parameters, started }: Returned): Promise<Tokens> {
  if (!started) throw new ApiError(0, "", "This tab did not start the sign-in. Start it again.");
  const issuer = await discover(started.settings);
  const code = oauth.validateAuthResponse(issuer.server, issuer.client, parameters, started.state);
  return exchangeCode(issuer, code, redirectUri(), started.verifier, started.nonce);
}

async function parametersOf({ settings, state, nonce, verifier }: Started): Promise<Record<string, string>> {
  const { client_id, audience } = settings;
  return {
    client_id,
    redirect_uri: redirectUri(),
    response_type: "code",
    scope: settings.scope ?? "openid",
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    // Some issuers make a token for an API only if the request names it.
    ...(audience !== undefined && audience !== client_id && { audience }),
  };
}

function redirectUri(): string {
  return `${baseUrl()}/`;
}

function readStarted(): Started | null {
  try {
    return JSON.parse(sessionStorage.getItem(NAME) ?? "null") as Started | null;
  } catch {
    return null;
  }
}
