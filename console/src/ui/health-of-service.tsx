import type { ServiceHealth } from "../api/service-health";
import { Badge } from "./state-badge";

/** Shows the result of the last run over all items of a service. */
export function HealthBadge({ health }: { health: ServiceHealth | null | undefined }) {
  if (health === undefined) return <span className="hint">No healthcheck</span>;
  if (health === null) return <span className="hint">No run yet</span>;
  if (health.error !== null) return <Badge tone="bad" icon="warning" word={`Failed: ${health.error}`} />;
  const isHealthy = health.healthy === health.checked;
  const word = `${health.healthy} of ${health.checked} items healthy`;
  return <Badge tone={isHealthy ? "good" : "bad"} icon={isHealthy ? "done" : "warning"} word={word} />;
}
