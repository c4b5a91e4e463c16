import type { JsonObject } from "../../api/types";
import { pricesOf } from "../../lib/definition";
import { Facts } from "../../ui/facts";

/** Shows the prices in a definition. The service owner chooses the currency. */
export function Prices({ definition }: { definition: JsonObject }) {
  const { change, month } = pricesOf(definition);
  if (change === undefined && month === undefined) return <p className="empty">The service has no prices.</p>;
  return (
    <>
      <Facts
        facts={[
          ["For each change", change],
          ["For each item and month (730 hours)", month],
        ]}
      />
      <p className="hint">The service owner chooses the currency.</p>
    </>
  );
}
