import { useCallback, useState } from "react";
import { type DeployedItem, listDeployedItems, VERSIONS_LIMIT } from "../../api/service-items";
import type { JsonObject } from "../../api/types";
import { formatTime } from "../../lib/age";
import { differencesBetween } from "../../lib/differences";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { DifferenceList } from "../../ui/differences";
import { DocumentView } from "../../ui/document-view";
import { SelectFilter } from "../../ui/filters";
import { ResourceStatus } from "../../ui/resource-status";

/** Shows a deployed version of an item, and its differences from another one. */
export function Deployed({ itemId }: { itemId: number }) {
  const api = useApi();
  const { role } = useSession();
  const versions = useResource(useCallback(() => listDeployedItems(api, role, itemId), [api, role, itemId]));
  if (!versions.data) return <ResourceStatus resource={versions} />;
  if (versions.data.length === 0) return <p className="empty">The service owner has not recorded a deployed version.</p>;
  return <Versions versions={versions.data} />;
}

function Versions({ versions }: { versions: DeployedItem[] }) {
  const [shown, setShown] = useState(versions[0]?.id);
  const [base, setBase] = useState(versions[1]?.id);
  const shownVersion = versions.find(({ id }) => id === shown) ?? versions[0];
  const baseVersion = versions.find(({ id }) => id === base);
  if (!shownVersion) return null;
  const options = versions.map((version) => ({ value: version.id, text: versionText(version) }));
  return (
    <>
      <p className="filters">
        <SelectFilter label="Version" value={shown} options={options} onChange={setShown} />
        {versions.length > 1 && (
          <SelectFilter label="Compare with" value={base} options={options} onChange={setBase} />
        )}
      </p>
      {versions.length === VERSIONS_LIMIT && <p className="hint">The lists have the newest {VERSIONS_LIMIT} versions.</p>}
      {baseVersion && (
        <section aria-labelledby="version-differences">
          <h2 id="version-differences">
            Differences from version {baseVersion.version} to version {shownVersion.version}
          </h2>
          <DifferenceList
            differences={differencesBetween(baseVersion.data as JsonObject, shownVersion.data as JsonObject)}
            emptyText="The two versions are equal."
          />
        </section>
      )}
      <section aria-labelledby="version">
        <h2 id="version">Version {shownVersion.version}</h2>
        <p className="hint">{originText(shownVersion)}</p>
        <DocumentView name="deployed version" value={shownVersion.data} />
      </section>
    </>
  );
}

function versionText({ version, created, is_drifted: isDrifted, observed }: DeployedItem): string {
  return `${version}, ${formatTime(created)}${isDrifted ? ", drifted" : observed ? ", observed" : ""}`;
}

function originText({ created, observed, is_drifted: isDrifted }: DeployedItem): string {
  const time = formatTime(created);
  if (isDrifted) return `The service owner observed it at ${time}. It differs from the declaration.`;
  return observed ? `The service owner observed it at ${time}.` : `The service owner recorded it at ${time}.`;
}
