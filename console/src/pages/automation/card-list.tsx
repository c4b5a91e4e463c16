import type { ReactNode } from "react";
import type { Resource } from "../../lib/use-resource";
import { ResourceStatus } from "../../ui/resource-status";

type Props = {
  name: string;
  resource: Resource<unknown>;
  emptyText: string;
  /** The button that creates a card, for a caller who may. */
  create: { text: string; onClick: () => void; isAllowed: boolean };
  children: ReactNode[];
};

/** Lists cards, and offers to create one. */
export function CardList({ name, resource, emptyText, create, children }: Props) {
  return (
    <>
      {create.isAllowed && (
        <p className="page-actions">
          <button type="button" className="primary" onClick={create.onClick}>
            {create.text}
          </button>
        </p>
      )}
      <ResourceStatus resource={resource} />
      {resource.data !== null && children.length === 0 && <p className="empty">{emptyText}</p>}
      {children.length > 0 && (
        <ul className="card-list" aria-label={name}>
          {children}
        </ul>
      )}
    </>
  );
}
