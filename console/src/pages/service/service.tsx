import { useCallback } from "react";
import { readService } from "../../api/services";
import type { Service } from "../../api/types";
import { definitionOf, descriptionOf } from "../../lib/definition";
import { links } from "../../lib/links";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { Page } from "../../ui/page";
import { ResourceStatus } from "../../ui/resource-status";
import { ServiceState } from "../../ui/service-state";
import { type Tab, Tabs } from "../../ui/tabs";
import { Configs } from "./configs";
import { FormPreview } from "./form-preview";
import { Prices } from "./prices";
import { Readme } from "./readme";
import { Settings } from "./settings";
import { Versions } from "./versions";

/** Shows a service: documentation, form, definition, versions, settings and prices. */
export function ServicePage({ id }: { id: number }) {
  const api = useApi();
  const { role, team } = useSession();
  const service = useResource(useCallback(() => readService(api, role, id), [api, role, id]));
  const isOwn = role === "serviceowner" && service.data?.owner.id === team?.id;
  return (
    <Page title={service.data?.name ?? "Service"}>
      <ResourceStatus resource={service} />
      {service.data && (
        <>
          <Summary service={service.data} isOwn={isOwn} />
          <Tabs label="Parts of the service" tabs={tabsOf(service.data, isOwn, () => void service.refresh())} />
        </>
      )}
    </Page>
  );
}

function Summary({ service, isOwn }: { service: Service; isOwn: boolean }) {
  return (
    <>
      <p className="facts">
        <ServiceState state={service.state} />
        <span>Offered by {service.owner.name}</span>
        <span className="hint">Version {service.schema.version}</span>
        {service.tags.length > 0 && <span className="hint">Tags: {service.tags.join(", ")}</span>}
        {isOwn && (
          <a className="button" href={links.publish(service.id)}>
            Publish a new version
          </a>
        )}
      </p>
      <p>{descriptionOf(service)}</p>
    </>
  );
}

function tabsOf(service: Service, isOwn: boolean, refresh: () => void): Tab[] {
  const definition = definitionOf(service);
  const tabs: Tab[] = [
    { id: "readme", text: "README", content: () => <Readme service={service} /> },
    { id: "form", text: "Form", content: () => <FormPreview definition={definition} /> },
    { id: "definition", text: "Definition", content: () => <Definition text={JSON.stringify(definition, null, 2)} /> },
    { id: "versions", text: "Versions", content: () => <Versions service={service} /> },
    { id: "settings", text: "Settings", content: () => <Settings service={service} isOwn={isOwn} onChange={refresh} /> },
    { id: "prices", text: "Prices", content: () => <Prices definition={definition} /> },
  ];
  return isOwn ? [...tabs, { id: "configs", text: "Configs", content: () => <Configs id={service.id} /> }] : tabs;
}

function Definition({ text }: { text: string }) {
  return (
    <pre className="source">
      <code>{text}</code>
    </pre>
  );
}
