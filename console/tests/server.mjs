import { createReadStream, existsSync } from "node:fs";
import http from "node:http";
import path from "node:path";

export const DEMO_TEAMS = [
  { team: "VMOwnerTeam", key: "vm-owner-key" },
  { team: "LBOwnerTeam", key: "lb-owner-key" },
  { team: "NPOwnerTeam", key: "np-owner-key" },
  { team: "AwesomeConsumer", key: "awesome-key" },
  { team: "AwesomeConsumer2", key: "awesome2-key" },
];

/** Returns the headers of the console. The browser reads discovery and tokens from the origin of the issuer. */
const headersFor = (issuer) => ({
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
    `connect-src 'self'${issuer ? ` ${new URL(issuer).origin}` : ""}; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
});
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const DIST = path.join(import.meta.dirname, "../dist");

/** Serves the built console with its security headers, and forwards API requests to the system. */
export async function serve(system, settings = {}) {
  const headers = headersFor(settings.issuer);
  const server = http.createServer((request, response) => {
    const url = new URL(request.url, system);
    if (url.pathname === "/v1/console.json") return send(response, { demo_teams: DEMO_TEAMS, ...settings }, headers);
    if (/^\/(v1|_local)\//.test(url.pathname)) return forward(system, request, response);
    file(url.pathname, response, headers);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

function send(response, body, headers) {
  response.writeHead(200, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
}

function file(target, response, headers) {
  const name = path.join(DIST, target === "/" ? "index.html" : path.normalize(target));
  if (!name.startsWith(DIST) || !existsSync(name)) return response.writeHead(404, headers).end();
  response.writeHead(200, { "Content-Type": TYPES[path.extname(name)] ?? "text/plain", ...headers });
  createReadStream(name).pipe(response);
}

function forward(system, request, response) {
  const options = { method: request.method, headers: { ...request.headers, host: new URL(system).host } };
  const call = http.request(new URL(request.url, system), options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  call.on("error", () => response.writeHead(502).end());
  request.pipe(call);
}
