import type { ServiceHealth } from "../api/service-health";
import { Icon } from "./icon";

/** Shows the result of the last run over all items of a service. */
export function HealthBadge({ health }: { health: ServiceHealth | null | undefined }) {
  if (health === undefined) return <span className="hint">No healthcheck</span>;
  if (health === null) return <span className="hint">No run yet</span>;
  if (health.error !== null) return <Badge tone="bad" icon="warning" text={`Failed: ${health.error}`} />;
  const isHealthy = health.healthy === health.checked;
  const text = `${health.healthy} of ${health.checked} items healthy`;
  return <Badge tone={isHealthy ? "good" : "bad"} icon={isHealthy ? "done" : "warning"} text={text} />;
}

function Badge({ tone, icon, text }: { tone: string; icon: "done" | "warning"; text: string }) {
  return (
    <span className={`badge ${tone}`}>
      <Icon name={icon} />
      {text}
    </span>
  );
}
