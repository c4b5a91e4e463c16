import type { ServiceItem } from "../../api/service-items";
import { ReferencedBy } from "./referenced-by";
import { RefersTo } from "./refers-to";
import { Uses } from "./uses";

/** Shows the references of an item in both directions. */
export function References({ item }: { item: ServiceItem }) {
  return (
    <>
      <RefersTo item={item} />
      {item.uses !== undefined && <Uses itemId={item.id} uses={item.uses} />}
      <ReferencedBy itemId={item.id} />
    </>
  );
}
