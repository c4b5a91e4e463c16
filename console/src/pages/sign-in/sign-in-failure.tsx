import type { ApiError } from "../../api/errors";
import { ErrorNote } from "../../ui/error-note";

/** Explains a failed sign-in. A person without a team learns the next step. */
export function SignInFailure({ error }: { error: ApiError }) {
  if (error.code !== "not_a_member") return <ErrorNote error={error} />;
  return (
    <section className="note" role="alert" aria-labelledby="no-team">
      <h2 id="no-team">You are not a member of a team yet</h2>
      <p>Your sign-in was correct. Ask an administrator of your team to add you as a member.</p>
      <p>{sentence(error.message)}</p>
    </section>
  );
}

/** The texts of the API start in lower case and have no full stop. */
function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
