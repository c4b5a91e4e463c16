import { links } from "../../lib/links";
import { ProblemList } from "../../ui/error-note";
import { LongList } from "../../ui/long-list";
import type { Impact } from "./use-dry-run";

const SHORT = 20;

/** Lists items with the problems that they would have. Long lists open on request. */
export function FailingItems({ items }: { items: Impact["deployed"] }) {
  return (
    <LongList rows={items} most={SHORT} noun="items">
      {(shown) => (
        <ul className="failing-items">
          {shown.map((item) => (
            <li key={item.id}>
              <span className="hint">{item.application.name} / </span>
              <a href={links.item(item.id)}>{item.name}</a>
              <ProblemList problems={item.problems} />
            </li>
          ))}
        </ul>
      )}
    </LongList>
  );
}
