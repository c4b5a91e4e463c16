import type { ServiceItem } from "../../api/service-items";
import { formatTime } from "../../lib/age";
import { divideWhole } from "../../lib/differences";
import { DifferenceList } from "../../ui/differences";

/** Shows the difference between the declared and the observed values of a drifted item. */
export function Drift({ item: { drift } }: { item: ServiceItem }) {
  if (!drift) return null;
  return (
    <section className="note" aria-labelledby="drift">
      <h2 id="drift">Drift since {formatTime(drift.since)}</h2>
      <p>The service owner observed values that differ from the declaration. The next submission requests the item again.</p>
      <DifferenceList differences={divideWhole(drift.differences ?? [])} emptyText="" />
    </section>
  );
}
