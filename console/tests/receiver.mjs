import { EventEmitter, once } from "node:events";
import http from "node:http";

/** Starts a receiver of webhooks and healthchecks. `answer` decides its status and its body. `waitFor` waits for a path. */
export async function startReceiver() {
  const arrivals = new EventEmitter();
  const receiver = { received: [], answer: () => ({ status: 204 }) };
  const server = http.createServer(async (request, response) => {
    const body = (await request.toArray()).join("");
    receiver.received.push({ path: request.url, headers: request.headers, body });
    arrivals.emit("request");
    const { status, json } = receiver.answer(body);
    response.writeHead(status, { "Content-Type": "application/json" }).end(json && JSON.stringify(json));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  receiver.url = `http://127.0.0.1:${server.address().port}`;
  receiver.waitFor = async (path) => {
    while (!receiver.received.some((seen) => seen.path === path)) await once(arrivals, "request");
  };
  receiver.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return receiver;
}
