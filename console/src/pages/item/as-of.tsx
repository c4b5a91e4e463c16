import { useCallback } from "react";
import { readItem, type ServiceItem } from "../../api/service-items";
import type { JsonObject } from "../../api/types";
import { formatTime } from "../../lib/age";
import { differencesBetween } from "../../lib/differences";
import { useResource } from "../../lib/use-resource";
import { useApi, useSession } from "../../session/session";
import { DifferenceList } from "../../ui/differences";
import { DocumentView } from "../../ui/document-view";
import { ResourceStatus } from "../../ui/resource-status";
import { ItemBadges } from "./badges";
import { TimeSlider } from "./time-slider";
import { useSettled } from "./use-settled";

type Props = { item: ServiceItem; times: string[]; time: string | null; onChange: (time: string | null) => void };

/** Selects a time of the history, and shows the item at that time. */
export function AsOf({ item, times, time, onChange }: Props) {
  const settled = useSettled(time);
  return (
    <section aria-labelledby="as-of" className="card as-of">
      <h2 id="as-of">Item as of a time</h2>
      <TimeSlider times={times} time={time} onChange={onChange} />
      {settled === null ? (
        <p className="hint">Move the slider to see the item at an earlier time.</p>
      ) : (
        <Earlier item={item} time={settled} />
      )}
    </section>
  );
}

function Earlier({ item, time }: { item: ServiceItem; time: string }) {
  const api = useApi();
  const { role } = useSession();
  const earlier = useResource(useCallback(() => readItem(api, role, item.id, time), [api, role, item.id, time]));
  if (!earlier.data) return <ResourceStatus resource={earlier} />;
  const then = earlier.data;
  const deployed = then.deployed_item;
  return (
    <div className="as-of-content">
      <div>
        <h3>At {formatTime(time)}</h3>
        <ItemBadges item={then} />
        <p className="hint">Declaration, version {then.declaration_version}</p>
        <DocumentView name="earlier declaration" value={then.declaration} />
        <p className="hint">
          {deployed.version === undefined ? "There was no deployed version." : `Deployed version ${deployed.version}`}
        </p>
        {deployed.data !== undefined && <DocumentView name="earlier deployed version" value={deployed.data} />}
      </div>
      <div>
        <h3>Differences from then to now</h3>
        <p className="hint">Declaration</p>
        <DifferenceList differences={compare(then.declaration, item.declaration)} emptyText="The declaration is the same." />
        <p className="hint">Deployed version</p>
        <DifferenceList differences={compare(deployed.data, item.deployed_item.data)} emptyText="The values are the same." />
      </div>
    </div>
  );
}

function compare(then: unknown, now: unknown) {
  return differencesBetween((then ?? {}) as JsonObject, (now ?? {}) as JsonObject);
}
