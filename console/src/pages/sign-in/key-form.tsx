import { type FormEvent, useState } from "react";

type Props = { isBusy: boolean; isFirst: boolean; onSubmit: (key: string) => void };

/** Asks for an API key. */
export function KeyForm({ isBusy, isFirst, onSubmit }: Props) {
  const [key, setKey] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim()) onSubmit(key.trim());
  };
  return (
    <form onSubmit={submit} className="card">
      <label htmlFor="key">API key</label>
      <input
        id="key"
        type="password"
        autoComplete="off"
        required
        value={key}
        aria-describedby="key-hint"
        onChange={(event) => setKey(event.target.value)}
      />
      <p id="key-hint" className="hint">
        An administrator of your team creates keys. The console keeps the key in memory until you close or reload the
        page.
      </p>
      <button type="submit" className={isFirst ? "primary" : undefined} disabled={isBusy}>
        Sign in
      </button>
    </form>
  );
}
