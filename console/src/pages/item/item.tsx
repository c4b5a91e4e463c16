import { useCallback } from "react";
import { readItem, type ServiceItem } from "../../api/service-items";
import { links } from "../../lib/links";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { DocumentView } from "../../ui/document-view";
import { NamedTitle } from "../../ui/item-title";
import { Page } from "../../ui/page";
import { ResourceStatus } from "../../ui/resource-status";
import { Tabs } from "../../ui/tabs";
import { ItemBadges } from "./badges";
import { Charges } from "./charges";
import { Deployed } from "./deployed";
import { Drift } from "./drift";
import { History } from "./history";
import { ItemFacts } from "./item-facts";
import { References } from "./references";
import { useItemTitle } from "./use-item-title";

/** With the polls of the history and the claim, an idle page sends at most ten requests a minute. */
const SECONDS = 15;

/** Shows one service item with its documents, versions, history, references and charges. */
export function Item({ id }: { id: number }) {
  const api = useApi();
  const { role } = useSession();
  const item = useResource(useCallback(() => readItem(api, role, id), [api, role, id]), SECONDS);
  const title = useItemTitle(item.data);
  const name = item.data?.name ?? "Item";
  return (
    <Page title={name} heading={<NamedTitle title={title} name={name} />}>
      <ResourceStatus resource={item} />
      {item.data && <Content item={item.data} />}
    </Page>
  );
}

function Content({ item }: { item: ServiceItem }) {
  const document = { id: "document", text: "Document", content: () => <Document item={item} /> };
  return (
    <>
      <ItemBadges item={item} />
      <ItemFacts item={item} />
      <Actions item={item} />
      <Drift item={item} />
      <Tabs
        label="Parts of the item"
        tabs={[
          { id: "declaration", text: "Declaration", content: () => <Declaration item={item} /> },
          ...(item.document ? [document] : []),
          { id: "deployed", text: "Deployed", content: () => <Deployed itemId={item.id} /> },
          { id: "history", text: "History", content: () => <History item={item} /> },
          { id: "references", text: "References", content: () => <References item={item} /> },
          { id: "charges", text: "Charges", content: () => <Charges itemId={item.id} /> },
        ]}
      />
    </>
  );
}

function Actions({ item }: { item: ServiceItem }) {
  const { role } = useSession();
  if (role === "serviceowner") {
    return (
      <p>
        <a href={links.queue({ service: item.service.id })}>Decide its changes in the queue</a>
      </p>
    );
  }
  if (item.gone) return null;
  return (
    <p>
      <a className="button" href={links.edit(item.application.id, item.name)}>
        Edit
      </a>
    </p>
  );
}

function Declaration({ item }: { item: ServiceItem }) {
  return (
    <>
      <p className="hint">Version {item.declaration_version} of the consumer's declaration.</p>
      <DocumentView name="declaration" value={item.declaration} />
    </>
  );
}

function Document({ item }: { item: ServiceItem }) {
  return (
    <>
      <p className="hint">The declaration together with the service owner's values of the newest deployed version.</p>
      {item.document_problems?.map(({ pointer, detail }) => (
        <p className="hint" key={pointer}>
          No value of {pointer.slice(1)}: {detail}
        </p>
      ))}
      <DocumentView name="document" value={item.document} />
    </>
  );
}
