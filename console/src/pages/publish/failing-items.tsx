import { useState } from "react";
import { links } from "../../shell/links";
import type { Impact } from "./use-dry-run";

const SHORT = 20;

/** Lists items with the problems that they would have. Long lists open on request. */
export function FailingItems({ items }: { items: Impact["deployed"] }) {
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen ? items : items.slice(0, SHORT);
  return (
    <>
      <ul className="failing-items">
        {shown.map((item) => (
          <li key={item.id}>
            <span className="hint">{item.application.name} / </span>
            <a href={links.item(item.id)}>{item.name}</a>
            <ul className="problems">
              {item.problems.map((problem) => (
                <li key={`${problem.pointer} ${problem.rule} ${problem.detail}`}>
                  <code>{problem.pointer || "/"}</code> {problem.detail}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {items.length > shown.length && (
        <button type="button" className="link" onClick={() => setOpen(true)}>
          Show all {items.length} items
        </button>
      )}
    </>
  );
}
