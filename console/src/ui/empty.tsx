import { Icon } from "./icon";

/** Explains why a list has no rows. */
export function Empty({ text }: { text: string }) {
  return (
    <p className="empty">
      <Icon name="done" /> {text}
    </p>
  );
}
