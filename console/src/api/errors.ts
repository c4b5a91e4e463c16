import type { BrokenRule, Claim } from "./types";

/** Carries an error response of the API, or a request without a response (`status` 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly problems: BrokenRule[] = [],
    readonly pointer?: string,
    /** The newest claim, with the code `not_claimed`. */
    readonly claim?: Claim,
  ) {
    super(detail);
  }
}

type ProblemBody = { code?: unknown; detail?: unknown; title?: unknown; pointer?: unknown; problems?: unknown; claim?: unknown };

/** Converts the body of an error response. Other bodies, for example of a proxy, become a text with the status. */
export function fromBody(status: number, body: unknown): ApiError {
  const problem = (typeof body === "object" && body !== null ? body : {}) as ProblemBody;
  const text = [problem.detail, problem.title].find((part) => typeof part === "string") as string | undefined;
  const code = typeof problem.code === "string" ? problem.code : "";
  const problems = Array.isArray(problem.problems) ? (problem.problems as BrokenRule[]) : [];
  const pointer = typeof problem.pointer === "string" ? problem.pointer : undefined;
  const claim = code === "not_claimed" && problem.claim ? (problem.claim as Claim) : undefined;
  return new ApiError(status, code, text ?? `The system answered with status ${status}.`, problems, pointer, claim);
}

/** Wraps any thrown value, so that pages show every failure in the same way. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(0, "", "The system does not answer. Check the connection and try again.");
}
