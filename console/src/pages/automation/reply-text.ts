import type { Reply } from "../../api/webhooks";

type Failure = NonNullable<Reply["error"]> | "malformed";

const TEXTS: Record<Exclude<Failure, "status">, string> = {
  timeout: "The receiver did not answer in time.",
  unreachable: "There was no connection, no trusted certificate, or no HTTP.",
  not_public: "The name resolves to an address outside the public internet.",
  held_back: "Dovetail sent no request, because the receiver was down or slow.",
  malformed: "The answer has another form, or is too large.",
};

/** Explains the result of a request to a receiver. */
export function replyText({ error, status }: { error: Failure | null; status: number | null }): string {
  if (error === null || error === "status") return `The receiver answered with status ${status}.`;
  return TEXTS[error];
}
