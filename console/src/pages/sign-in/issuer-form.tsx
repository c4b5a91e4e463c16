type Props = { isBusy: boolean; onSubmit: () => void };

/** Offers the sign-in of a person. */
export function IssuerForm({ isBusy, onSubmit }: Props) {
  return (
    <section className="card issuer" aria-label="Sign in as a person">
      <button type="button" className="primary" disabled={isBusy} onClick={onSubmit}>
        Sign in with your organisation
      </button>
      <p className="hint">You act for the teams of which you are a member.</p>
    </section>
  );
}
