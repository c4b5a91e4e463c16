import { createReadStream, existsSync } from "node:fs";
import http from "node:http";
import path from "node:path";

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const DIST = path.join(import.meta.dirname, "../dist");
/** Headers of the embedded page that also apply to the files of `dist`. */
const SECURITY = ["content-security-policy", "x-content-type-options", "referrer-policy"];

/** Serves `dist` in place of the files embedded in the system, with its headers, and forwards all other requests. */
export async function serve(system) {
  const embedded = await fetch(system);
  const headers = Object.fromEntries(SECURITY.map((name) => [name, embedded.headers.get(name)]));
  const server = http.createServer((request, response) => {
    const file = path.join(DIST, request.url === "/" ? "index.html" : path.basename(request.url));
    if (request.url.lastIndexOf("/") > 0 || !existsSync(file)) return forward(system, request, response);
    response.writeHead(200, { "Content-Type": TYPES[path.extname(file)] ?? "text/plain", ...headers });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
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
