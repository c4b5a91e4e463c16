import type { ChangeInstance } from "../api/types";
import { Causes } from "./causes";
import { ChangeOnDemand } from "./change-on-demand";
import { LongList } from "./long-list";
import { ReferenceBadges, ReferencedItem, ReferenceProperty, ReferenceValues, referenceKey } from "./reference-parts";
import { Waits } from "./waits";

const SHORT = 10;

/** Shows on demand which changes a change follows, and the items to which its item refers. */
export function ChangeReferences({ id, name }: { id: number; name: string }) {
  return (
    <ChangeOnDemand id={id} name={name} part="references">
      {(change) => (
        <>
          <Waits change={change} />
          <Causes change={change} />
          <References change={change} />
        </>
      )}
    </ChangeOnDemand>
  );
}

function References({ change }: { change: ChangeInstance }) {
  const { references = [], application, consumer_team: team } = change;
  if (references.length === 0) return <p className="hint">It refers to no item.</p>;
  const home = { application: application.name, team: team.name };
  return (
    <LongList rows={references} most={SHORT} noun="references" fewerText="Show fewer references">
      {(shown) => (
        <ul className="references" aria-label="References">
          {shown.map((reference) => (
            <li key={referenceKey(reference)}>
              <ReferenceProperty reference={reference} /> <ReferencedItem reference={reference} home={home} />
              <ReferenceBadges reference={reference} />
              <ReferenceValues reference={reference} />
            </li>
          ))}
        </ul>
      )}
    </LongList>
  );
}
