import type { ReactNode } from "react";
import type { Access, Role } from "../api/types";
import { ApplicationPage } from "../pages/application/application";
import { Applications } from "../pages/applications/applications";
import { Automation } from "../pages/automation/automation";
import { Catalogue } from "../pages/catalogue/catalogue";
import { Edit } from "../pages/edit/edit";
import { Home } from "../pages/home/home";
import { Item } from "../pages/item/item";
import { Operations } from "../pages/operations/operations";
import { Publish } from "../pages/publish/publish";
import { Queue } from "../pages/queue/queue";
import { ServicePage } from "../pages/service/service";
import { Submission } from "../pages/submission/submission";
import { Submissions } from "../pages/submissions/submissions";
import { Team } from "../pages/team/team";

export type PageEntry = {
  /** Path with `:id` for a number. */
  path: string;
  /** Text of the link in the header; absent for a page that other pages link to. */
  text?: string;
  roles: readonly Role[];
  /** True for a page of operators. They have no other page. */
  isPlatform?: true;
  page: (id: number) => ReactNode;
};

const BOTH = ["consumer", "serviceowner"] as const;
const CONSUMER = ["consumer"] as const;
const OWNER = ["serviceowner"] as const;

/** All pages of a signed-in team, in the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  { path: "", text: "Home", roles: BOTH, page: () => <Home /> },
  { path: "queue", text: "Queue", roles: OWNER, page: () => <Queue /> },
  { path: "catalogue", text: "Catalogue", roles: BOTH, page: () => <Catalogue /> },
  { path: "catalogue/:id", roles: BOTH, page: (id) => <ServicePage id={id} /> },
  { path: "publish", roles: OWNER, page: () => <Publish /> },
  { path: "edit", roles: CONSUMER, page: () => <Edit /> },
  { path: "applications", text: "Applications", roles: BOTH, page: () => <Applications /> },
  { path: "applications/:id", roles: BOTH, page: (id) => <ApplicationPage key={id} id={id} /> },
  { path: "submissions", text: "Submissions", roles: CONSUMER, page: () => <Submissions /> },
  { path: "submissions/:id", roles: CONSUMER, page: (id) => <Submission id={id} /> },
  { path: "automation", text: "Automation", roles: BOTH, page: () => <Automation /> },
  { path: "team", text: "Team", roles: BOTH, page: () => <Team /> },
  { path: "items/:id", roles: BOTH, page: (id) => <Item id={id} /> },
  { path: "operations", text: "Operations", roles: BOTH, isPlatform: true, page: () => <Operations /> },
];

/** Returns the pages that the caller may open. */
export function pagesFor(access: Access): readonly PageEntry[] {
  return PAGES.filter((entry) => (entry.isPlatform ?? false) === (access === "PLATFORM"));
}

/** Returns the path of the page to show: an operator starts with the operations. */
export function homePath(path: string, access: Access): string {
  return path === "" && access === "PLATFORM" ? "operations" : path;
}

/** Finds the page of a path, with the number in it. */
export function findPage(path: string): { entry: PageEntry; id: number } | undefined {
  for (const entry of PAGES) {
    const id = idIn(entry.path, path);
    if (id !== undefined) return { entry, id };
  }
  return undefined;
}

/** Returns the number in place of `:id`, 0 without one, and `undefined` if the path does not match. */
function idIn(pattern: string, path: string): number | undefined {
  const match = new RegExp(`^${pattern.replace(":id", "([0-9]{1,15})")}$`).exec(path);
  return match ? Number(match[1] ?? 0) : undefined;
}
