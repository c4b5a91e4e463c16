import type { Rights } from "../session/access";

/** Explains to a caller without the role ADMIN why a page offers no changes. `what` is the beginning of the explanation. */
export function AccessNote({ access, what }: { access: Rights; what: string }) {
  if (access.isAdmin) return null;
  return (
    <p className="note">
      {what} the role ADMIN. You have the role {access.role}. Ask an administrator of your team for another key.
    </p>
  );
}
