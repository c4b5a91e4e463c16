import { useCallback, useState } from "react";
import { compareSubmissions } from "../../api/submissions";
import { divideWhole } from "../../lib/differences";
import { links } from "../../lib/links";
import { useResource } from "../../lib/use-resource";
import { useApi } from "../../session/session";
import { DifferenceList } from "../../ui/differences";
import { SelectFilter } from "../../ui/filters";
import { ResourceStatus } from "../../ui/resource-status";
import { TypeBadge } from "../../ui/state-badge";
import { submissionText, useEarlierSubmissions } from "./use-earlier-submissions";

/** Compares the declaration after this submission with the one after an earlier submission. */
export function Compare({ id }: { id: number }) {
  const earlier = useEarlierSubmissions(id);
  const [chosen, setChosen] = useState<number>();
  const from = chosen ?? earlier.data?.[0]?.id;
  if (earlier.data?.length === 0) return <p className="empty">There is no earlier submission.</p>;
  return (
    <>
      <ResourceStatus resource={earlier} />
      {earlier.data && (
        <p className="filters">
          <SelectFilter
            label="Earlier submission"
            value={from}
            options={earlier.data.map((row) => ({ value: row.id, text: submissionText(row) }))}
            onChange={setChosen}
          />
          {from !== undefined && <a href={links.submission(from)}>Open it</a>}
        </p>
      )}
      {from !== undefined && <Comparison from={from} to={id} />}
    </>
  );
}

function Comparison({ from, to }: { from: number; to: number }) {
  const api = useApi();
  const comparison = useResource(useCallback(() => compareSubmissions(api, from, to), [api, from, to]));
  const { data } = comparison;
  if (!data) return <ResourceStatus resource={comparison} />;
  if (data.metadata.length + data.service_items.length === 0) {
    return <p className="empty">The two declarations are equal.</p>;
  }
  return (
    <>
      <p>The list shows the changes from the earlier declaration to the declaration of this submission.</p>
      <ul className="change-list" aria-label="Differences between the declarations">
        {data.metadata.map(({ application, differences }) => (
          <li key={application?.id ?? "team"} className="card">
            <p className="facts">
              <strong>{application ? `Metadata of the application ${application.name}` : "Metadata of the team"}</strong>
            </p>
            <DifferenceList differences={divideWhole(differences)} emptyText="" />
          </li>
        ))}
        {data.service_items.map((item) => (
          <li key={item.id} className="card">
            <p className="facts">
              <TypeBadge type={item.change_type} />
              <a href={links.item(item.id)} className="item-name">
                <span className="hint">
                  {item.application.name} / {item.service.name} /{" "}
                </span>
                <strong>{item.name}</strong>
              </a>
            </p>
            <DifferenceList differences={divideWhole(item.differences)} emptyText="" />
          </li>
        ))}
      </ul>
      {data.hasMore && <p className="hint">There are more differences than the list shows.</p>}
    </>
  );
}
