import type { Role } from "../api/types";
import { links } from "../lib/links";

export type Step = { title: string; text: string; role: Role; link: string; linkText: string };

/** The steps of the tour, each with the page that it explains. */
export const STEPS: readonly Step[] = [
  {
    title: "See the tree",
    text: "An application shows its items as a tree. A badge has the state of each item, and lines show references.",
    role: "consumer",
    link: links.applications(),
    linkText: "Open the applications",
  },
  {
    title: "Edit and plan",
    text: "Edit a declaration as a form or as text. The plan follows each keystroke: changes, prices and warnings. Apply sends exactly this plan.",
    role: "consumer",
    link: links.edit(),
    linkText: "Open the editor",
  },
  {
    title: "Decide in the queue",
    text: "A service owner selects changes, sees their differences, and decides them in one step. Everything works by keyboard; press ? for the keys.",
    role: "serviceowner",
    link: links.queue(),
    linkText: "Open the queue",
  },
  {
    title: "Look back",
    text: "Each submission stays in the history with its changes. You can compare two of them, and revert to an earlier one.",
    role: "consumer",
    link: links.submissions(),
    linkText: "Open the submissions",
  },
];
