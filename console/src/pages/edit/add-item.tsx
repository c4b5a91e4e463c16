import { useState } from "react";
import type { Service } from "../../api/types";

type Props = { services: readonly Service[]; readOnly: boolean; onAdd: (service: string) => void };

/** Adds an item of a service in the catalogue. */
export function AddItem({ services, readOnly, onAdd }: Props) {
  const offered = services.filter((service) => service.state === "IN_SERVICE");
  const [chosen, setChosen] = useState("");
  const name = chosen || offered[0]?.name;
  if (name === undefined) return <p className="hint">The catalogue has no service for new items.</p>;
  return (
    <div className="add-item">
      <label>
        <span className="hidden">Service of the new item</span>
        <select value={name} disabled={readOnly} onChange={(event) => setChosen(event.target.value)}>
          {offered.map((service) => (
            <option key={service.id} value={service.name}>
              {service.name} ({service.owner.name})
            </option>
          ))}
        </select>
      </label>
      <button type="button" disabled={readOnly} onClick={() => onAdd(name)}>
        Add item
      </button>
    </div>
  );
}
