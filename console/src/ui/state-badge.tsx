import type { ChangeState, ChangeType } from "../api/types";
import { Icon, type IconName } from "./icon";

/** A word with its icon and colour. */
export type Look = { icon: IconName; tone: string; word: string };

const STATES: Record<ChangeState, Look> = {
  PENDING: { icon: "clock", tone: "waiting", word: "Pending" },
  APPROVED: { icon: "work", tone: "active", word: "Approved" },
  REJECTED: { icon: "reject", tone: "bad", word: "Rejected" },
  ERRORED: { icon: "warning", tone: "bad", word: "Failed" },
  COMPLETED: { icon: "done", tone: "good", word: "Completed" },
  CLOSED: { icon: "closed", tone: "quiet", word: "Closed" },
};

const TYPES: Record<ChangeType, Look> = {
  CREATE: { icon: "plus", tone: "good", word: "Create" },
  MODIFY: { icon: "edit", tone: "active", word: "Modify" },
  DELETE: { icon: "minus", tone: "bad", word: "Delete" },
};

/** Returns the word of a state in a sentence. */
export function stateWord(state: ChangeState): string {
  return STATES[state].word.toLowerCase();
}

/** Shows the state of a change by word, icon and colour. */
export function StateBadge({ state }: { state: ChangeState }) {
  return <Badge {...STATES[state]} />;
}

/** Returns the word and the tone of a state. */
export function stateLook(state: ChangeState): { tone: string; word: string } {
  return STATES[state];
}

/** Shows the type of a change. */
export function TypeBadge({ type }: { type: ChangeType }) {
  const { icon, tone, word } = TYPES[type];
  return <Badge icon={icon} tone={`${tone} outline`} word={word} />;
}

/** Shows a word with its icon and colour. */
export function Badge({ icon, tone, word }: Look) {
  return (
    <span className={`badge ${tone}`}>
      <Icon name={icon} />
      {word}
    </span>
  );
}

/** Shows several words in one line. */
export function Badges({ looks }: { looks: readonly Look[] }) {
  return (
    <p className="facts">
      {looks.map((look) => (
        <Badge key={look.word} {...look} />
      ))}
    </p>
  );
}
