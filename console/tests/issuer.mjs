import crypto from "node:crypto";
import http from "node:http";

const KEY_ID = "console";
const CLIENT = "dovetail-console";
const LIFETIME_SECONDS = 300;

/**
 * Starts an OpenID Connect issuer for tests. It signs `person` in at once, and checks the code, PKCE and the redirect URI.
 * The fields of the result are switches: `person` is the subject, `error` is an answer instead of a code, and
 * `lifetime` is the validity of the next tokens in seconds.
 */
export async function startIssuer() {
  const keys = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" });
  const issuer = { clientId: CLIENT, person: "jane", error: "", lifetime: LIFETIME_SECONDS, refreshes: 0, codes: new Map() };
  const server = http.createServer((request, response) => {
    // A browser of another origin reads discovery and tokens, so the issuer needs CORS.
    response.setHeader("Access-Control-Allow-Origin", "*");
    const url = new URL(request.url, issuer.url);
    const handler = { "/authorize": authorize, "/token": token, ...documents(issuer, keys) }[url.pathname];
    if (!handler) return response.writeHead(404).end();
    handler({ issuer, keys, url, request, response });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer.url = `http://127.0.0.1:${server.address().port}`;
  issuer.close = () => server.close();
  return issuer;
}

function documents({ url }, { publicKey }) {
  const discovery = {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/jwks`,
    response_types_supported: ["code"],
    id_token_signing_alg_values_supported: ["ES256"],
    code_challenge_methods_supported: ["S256"],
  };
  const jwks = { keys: [{ ...publicKey.export({ format: "jwk" }), kid: KEY_ID, use: "sig", alg: "ES256" }] };
  return {
    "/.well-known/openid-configuration": ({ response }) => json(response, discovery),
    "/jwks": ({ response }) => json(response, jwks),
  };
}

function authorize({ issuer, url, response }) {
  const asked = Object.fromEntries(url.searchParams);
  const back = new URL(asked.redirect_uri);
  back.searchParams.set("state", asked.state);
  if (issuer.error) {
    back.searchParams.set("error", issuer.error);
  } else {
    const code = crypto.randomUUID();
    issuer.codes.set(code, { ...asked, person: issuer.person });
    back.searchParams.set("code", code);
  }
  response.writeHead(302, { Location: back.href }).end();
}

async function token({ issuer, keys, request, response }) {
  const body = new URLSearchParams(await textOf(request));
  const asked = body.get("grant_type") === "refresh_token" ? renew(issuer, body) : redeem(issuer, body);
  if (!asked) return json(response, { error: "invalid_grant" }, 400);
  const refresh = crypto.randomUUID();
  issuer.codes.set(refresh, asked);
  const idToken = sign(keys, claimsOf(issuer, asked));
  const answer = { access_token: "opaque", token_type: "Bearer", id_token: idToken, expires_in: issuer.lifetime };
  json(response, { ...answer, ...(asked.scope.includes("offline_access") && { refresh_token: refresh }) });
}

/** Returns the request of a code. A code works once, and only with its verifier. */
function redeem(issuer, body) {
  const asked = issuer.codes.get(body.get("code"));
  issuer.codes.delete(body.get("code"));
  const challenge = crypto.createHash("sha256").update(body.get("code_verifier") ?? "").digest("base64url");
  const isValid = asked?.code_challenge === challenge && asked.redirect_uri === body.get("redirect_uri");
  return isValid && asked.code_challenge_method === "S256" && asked.client_id === CLIENT ? asked : null;
}

function renew(issuer, body) {
  const asked = issuer.codes.get(body.get("refresh_token"));
  issuer.codes.delete(body.get("refresh_token"));
  issuer.refreshes++;
  return asked && { ...asked, nonce: undefined };
}

function claimsOf(issuer, { person, nonce }) {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer.url, aud: CLIENT, sub: person, iat: now, exp: now + issuer.lifetime, ...(nonce && { nonce }) };
}

function sign({ privateKey }, claims) {
  const parts = [{ alg: "ES256", typ: "JWT", kid: KEY_ID }, claims];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  const signature = crypto.sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

async function textOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function json(response, body, status = 200) {
  response.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" }).end(JSON.stringify(body));
}
