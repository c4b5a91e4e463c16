import { type Document, isCollection, parseDocument, stringify, visit } from "yaml";
import type { Json } from "../api/types";

export type TextFormat = "yaml" | "json";
export type TextError = { from: number; line: number; detail: string };
export type ValidText = { isValid: true; text: string; format: TextFormat; value: Json; document: Document.Parsed };
export type ParsedText = ValidText | { isValid: false; text: string; error: TextError };

/** Sets the layout of written YAML: no line is folded, and flow lists have no inner spaces. */
export const LAYOUT = { lineWidth: 0, flowCollectionPadding: false } as const;

/** Parses YAML 1.2 or JSON. Repeated keys and values without a form in JSON are errors. */
export function parseText(text: string, format: TextFormat): ParsedText {
  // Every JSON text is YAML 1.2, so one parser gives the positions of both.
  const document = parseDocument(text, { version: "1.2", schema: "core", uniqueKeys: true, prettyErrors: false });
  const failure = document.errors[0];
  if (failure) return invalid(text, failure.pos[0], asSentence(failure.message));
  const foreign = findForeignValue(document);
  if (foreign) return invalid(text, foreign.from, foreign.detail);
  try {
    const value = document.toJS() as Json;
    if (format === "json") JSON.parse(text);
    return { isValid: true, text, format, value, document };
  } catch (error) {
    return invalid(text, positionIn(error as Error), asSentence((error as Error).message));
  }
}

/** Writes a value as text. */
export function formatValue(value: Json, format: TextFormat): string {
  return format === "json" ? `${JSON.stringify(value, null, 2)}\n` : stringify(value, LAYOUT);
}

/** Returns the line of a position, counted from 1. */
export function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < position; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

function invalid(text: string, from: number, detail: string): ParsedText {
  return { isValid: false, text, error: { from, line: lineAt(text, from), detail } };
}

/** Finds the first value that JSON cannot express, because the API accepts only JSON. */
function findForeignValue(document: Document.Parsed): { from: number; detail: string } | undefined {
  let found: { from: number; detail: string } | undefined;
  const stop = (from: number | undefined, detail: string) => {
    found = { from: from ?? 0, detail };
    return visit.BREAK;
  };
  visit(document, {
    Pair(_, { key }) {
      if (isCollection(key)) return stop(key.range?.[0], "A key must be a text.");
    },
    Scalar(_, { value, range }) {
      if (typeof value === "number" && !Number.isFinite(value)) return stop(range?.[0], "A number must be finite.");
      if (typeof value === "object" && value !== null) return stop(range?.[0], "A value must have a form in JSON.");
    },
  });
  return found;
}

/** Takes the position out of a message of `JSON.parse`. Browsers without one give the start. */
function positionIn(error: Error): number {
  return Number(/at position (\d+)/.exec(error.message)?.[1] ?? 0);
}

function asSentence(message: string): string {
  const text = message.replace(/; please use .*$/, "");
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}
