import type { JsonObject } from "../../api/types";
import { domId } from "./context";
import { notesOf } from "./words";

type Props = { id: string; schema: JsonObject; problems: string[] };

/** Shows description, notes and problems of a field. */
export function About({ id, schema, problems }: Props) {
  const description = typeof schema.description === "string" ? schema.description : "";
  const notes = notesOf(schema);
  return (
    <>
      {(description || notes.length > 0) && (
        <div id={aboutId(id)} className="hint field-about">
          {description && <p>{description}</p>}
          {notes.map((note) => (
            <p key={note}>{note}</p>
          ))}
        </div>
      )}
      {problems.length > 0 && (
        <ul id={problemsId(id)} className="field-error">
          {problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Returns the value of `aria-describedby` for a field. */
export function describedBy(id: string, schema: JsonObject, problems: string[]): string | undefined {
  const hasAbout = Boolean(schema.description) || notesOf(schema).length > 0;
  const ids = [hasAbout && aboutId(id), problems.length > 0 && problemsId(id)].filter(Boolean);
  return ids.join(" ") || undefined;
}

/** Shows the name of a field and whether a declaration needs it. */
export function FieldName({ name, isRequired }: { name: string; isRequired: boolean }) {
  return (
    <>
      {name}
      {isRequired && <span className="hint"> (required)</span>}
    </>
  );
}

function aboutId(id: string): string {
  return domId(`${id}--about`);
}

function problemsId(id: string): string {
  return domId(`${id}--problems`);
}
