import { useCallback } from "react";
import { listConfigs } from "../../api/services";
import { formatTime } from "../../lib/age";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";
import { ResourceStatus } from "../../ui/resource-status";

const LATEST = 20;

/** Lists the newest configs of a service for its automation. */
export function Configs({ id }: { id: number }) {
  const api = useApi();
  const configs = useResource(useCallback(() => listConfigs(api, id, LATEST), [api, id]));
  if (!configs.data) return <ResourceStatus resource={configs} />;
  if (configs.data.length === 0) return <p className="empty">The service has no configs.</p>;
  return (
    <>
      <p className="hint">Only the service owner sees configs. The newest {LATEST} versions are shown.</p>
      {configs.data.map((config, index) => (
        <details key={config.id} open={index === 0}>
          <summary>
            Version {config.version}, {formatTime(config.created)}
          </summary>
          <pre className="source">
            <code>{JSON.stringify(config.config, null, 2)}</code>
          </pre>
        </details>
      ))}
    </>
  );
}
