import createClient, { type Client } from "openapi-fetch";
import { asApiError, fromBody } from "./errors";
import type { paths } from "./schema";

export type Api = Client<paths>;

const ATTEMPTS = 3;
const LONGEST_WAIT_SECONDS = 5;

/** Returns the directory of the page, because a stage of an API Gateway comes before `/v1`. */
export function baseUrl(): string {
  return new URL(".", document.baseURI).href.replace(/\/$/, "");
}

/** Creates the client of the console. A person with several teams acts for `team`. */
export function createApi(authorization: () => Promise<string>, team: number | undefined, onUnauthenticated: () => void): Api {
  const api = createClient<paths>({
    baseUrl: baseUrl(),
    fetch: fetchWithRetry,
    credentials: "omit",
    cache: "no-store",
    ...(team !== undefined && { headers: { "Dovetail-Team": String(team) } }),
  });
  api.use({
    async onRequest({ request }) {
      request.headers.set("Authorization", await authorization());
      return request;
    },
    onResponse({ response }) {
      if (response.status === 401) onUnauthenticated();
    },
  });
  return api;
}

/** Returns the data of a successful response, and throws an `ApiError` otherwise. */
export async function unwrap<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  try {
    const { data, error, response } = await call;
    if (!response.ok) throw fromBody(response.status, error);
    return data as T;
  } catch (error) {
    throw asApiError(error);
  }
}

/** Options of a creation: after a lost response, a repeated request would create a second key or webhook. */
export const ONCE = { fetch: (request: Request) => fetch(request) };

/** Returns a new key for safe retries. Browsers offer `randomUUID` only with HTTPS. */
export function newRequestKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Repeats a request after 429 and 503. All requests without `ONCE` are safe to repeat. */
async function fetchWithRetry(request: Request): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(request.clone());
    const isTemporary = response.status === 429 || response.status === 503;
    if (!isTemporary || attempt === ATTEMPTS) return response;
    await pause(Number(response.headers.get("Retry-After") ?? 1) || 1);
  }
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(seconds, LONGEST_WAIT_SECONDS) * 1000));
}
