import * as oauth from "oauth4webapi";
import type { IssuerSettings } from "../../api/account";
import { ApiError } from "../../api/errors";
import { discover, type Issuer, requestOptions } from "./settings";

export type Tokens = {
  settings: IssuerSettings;
  /** The token that the API accepts. */
  bearer: string;
  /** End of the token's validity in milliseconds, or null if the token does not contain it. */
  expires: number | null;
  refresh?: string;
};

type Claims = { aud?: unknown; exp?: unknown };

/** Returns new tokens for the refresh token, or throws if the issuer rejects it. */
export async function refreshTokens({ settings, refresh }: Tokens): Promise<Tokens> {
  if (refresh === undefined) throw new Error("a refresh token is required");
  const { server, client } = await discover(settings);
  const options = requestOptions(settings);
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refresh, options);
  const body = await oauth.processRefreshTokenResponse(server, client, response);
  return { ...selectToken(settings, body), refresh: body.refresh_token ?? refresh };
}

/** Exchanges the code of the redirect for tokens. */
export async function exchangeCode(issuer: Issuer, code: URLSearchParams, redirectUri: string, verifier: string, nonce: string) {
  const { server, client, settings } = issuer;
  const options = requestOptions(settings);
  const response = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), code, redirectUri, verifier, options);
  const body = await oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: nonce });
  return { ...selectToken(settings, body), ...(body.refresh_token && { refresh: body.refresh_token }) };
}

/** Selects the token for the audience of the API. It is the access token, or else the ID token. */
function selectToken(settings: IssuerSettings, body: oauth.TokenEndpointResponse): Tokens {
  const audience = settings.audience ?? settings.client_id;
  for (const token of [body.access_token, body.id_token]) {
    const claims = token ? claimsOf(token) : null;
    if (!token || !claims || ![claims.aud].flat().includes(audience)) continue;
    return { settings, bearer: token, expires: typeof claims.exp === "number" ? claims.exp * 1000 : null };
  }
  throw new ApiError(0, "", `The issuer sent no token for the audience ${audience}. Ask your operator to check its settings.`);
}

/** Reads the claims of a token without a check of its signature: the API verifies it. Opaque tokens have no claims. */
function claimsOf(token: string): Claims | null {
  try {
    const part = token.split(".")[1] ?? "";
    const bytes = Uint8Array.from(atob(part.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Claims | null;
  } catch {
    return null;
  }
}
