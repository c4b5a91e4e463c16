import type { ItemReference, ServiceItem } from "../api/service-items";
import { links } from "../lib/links";
import { DocumentView } from "./document-view";
import { GONE, RUNTIME, TURNS } from "./item-looks";
import { Badges, type Look } from "./state-badge";

const UNDECLARED = "No longer declared: the next change of this item must name another one.";

const IN_PLACE: Look = { icon: "check", tone: "good", word: "In place" };
const NOT_IN_PLACE: Look = { icon: "clock", tone: "quiet", word: "Not in place yet" };

/** The application and the team of the item that refers to others. */
export type Home = { application: string; team: string };

type Props = { reference: ItemReference };

/** Returns a key for each reference of one item. */
export function referenceKey({ pointer, service_item: id }: ItemReference): string {
  return `${id} ${pointer}`;
}

/** Reports whether the console has a page for a referenced item. It has none for items that another team grants. */
export function hasPage({ url }: Pick<ItemReference, "url">): boolean {
  return url !== null && url.includes("/service_items/");
}

/** Names the property with the reference. A changed definition may have lost it. */
export function ReferenceProperty({ reference: { pointer } }: Props) {
  return pointer ? <code>{pointer}</code> : "Unknown";
}

/** Names a referenced item, and its application and team if they differ from those of the referring item. */
export function ReferencedItem({ reference, home }: Props & { home: Home }) {
  const { service_item: id, service, declared } = reference;
  const text = nameOf(reference);
  const elsewhere = elsewhereText(reference, home);
  return (
    <>
      {service !== null && <span className="hint">{service} / </span>}
      {hasPage(reference) ? <a href={links.item(id)}>{text}</a> : text}
      {elsewhere && <p className="hint">{elsewhere}</p>}
      {!declared && <p className="hint">{UNDECLARED}</p>}
    </>
  );
}

function elsewhereText({ application, team }: ItemReference, home: Home): string | undefined {
  if (application === null) return undefined;
  if (team !== home.team) return `Application ${application} of ${team}`;
  return application === home.application ? undefined : `Application ${application}`;
}

/** Shows how far a referenced item is, who must act next, and whether the item exists at its service owner. */
export function ReferenceBadges({ reference }: Props) {
  if (reference.name === null) return <Badges looks={[GONE]} />;
  const runtime = reference.runtime_state as ServiceItem["runtime_state"];
  const change = reference.change_state as ServiceItem["change_state"];
  return <Badges looks={[RUNTIME[runtime], TURNS[change], reference.in_place ? IN_PLACE : NOT_IN_PLACE]} />;
}

/** Reports whether the setting of the referenced service shows more than names and states. */
export function hasValues({ deployed_item: deployed, document }: ItemReference): boolean {
  return deployed !== undefined || document !== undefined;
}

/** Shows the deployed version and the document of a referenced item, which open on request. */
export function ReferenceValues({ reference }: Props) {
  const { pointer, deployed_item: deployed, document } = reference;
  const name = `${nameOf(reference)}${pointer && ` at ${pointer}`}`;
  return (
    <>
      {deployed && deployed.version === undefined && <p className="hint">{nameOf(reference)} has no deployed version.</p>}
      {deployed && deployed.version !== undefined && (
        <details>
          <summary>
            Deployed version {deployed.version} of {nameOf(reference)}
          </summary>
          <DocumentView name={`deployed version of ${name}`} value={deployed.data} />
        </details>
      )}
      {document && (
        <details>
          <summary>Document of {nameOf(reference)}</summary>
          <DocumentView name={`document of ${name}`} value={document} />
        </details>
      )}
    </>
  );
}

function nameOf({ name, service_item: id }: ItemReference): string {
  return name ?? `Item ${id}`;
}
