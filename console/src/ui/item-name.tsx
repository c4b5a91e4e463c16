import type { ChangeInstance } from "../api/types";
import { links } from "../lib/links";
import { ItemTitle } from "./item-title";

type Props = {
  change: ChangeInstance;
  /** False in dialogs, where a link would leave the page and its input. */
  hasLinks?: boolean;
};

/**
 * Names the item of a change, by its title if it has one. Adds its application and service, and links to the pages of
 * item and service.
 */
export function ItemName({ change, hasLinks = true }: Props) {
  const { application, service, service_item: item } = change;
  if (!hasLinks) {
    return (
      <span className="item-name">
        <span className="hint">{`${application.name} / ${service.name} / `}</span>
        <strong>
          <ItemTitle item={item} />
        </strong>
      </span>
    );
  }
  return (
    <span className="item-name">
      <span className="hint">{application.name} / </span>
      <a className="hint" href={links.service(service.id)}>
        {service.name}
      </a>
      <span className="hint"> / </span>
      <a href={links.item(item.id)}>
        <strong>
          <ItemTitle item={item} />
        </strong>
      </a>
    </span>
  );
}
