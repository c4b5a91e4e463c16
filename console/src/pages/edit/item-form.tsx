import type { Json, JsonObject, Service } from "../../api/types";
import type { Editor } from "../../editor/use-editor";
import { valueAt } from "../../lib/json-paths";
import { type ItemRef, itemName, itemsByService, pathOfItem } from "./content";
import { isSameItem, type LocatedProblem } from "./problems";

type Props = {
  editor: Editor;
  value: Json;
  item: ItemRef;
  service: Service | undefined;
  problems: LocatedProblem[];
  readOnly: boolean;
  onChange: (item: Json | undefined) => void;
  onRemove: () => void;
};

/** Edits one item by the schema of its service. */
export function ItemForm({ editor, value, item, service, problems, readOnly, onChange, onRemove }: Props) {
  const content = valueAt(value, pathOfItem(value, item));
  if (content === undefined) return null;
  const title = `${item.service} / ${itemName(content, item.index)}`;
  const namesOf = (name: string) => {
    const items = itemsByService(value).find(([other]) => other === name)?.[1] ?? [];
    return items.map((other, index) => itemName(other, index));
  };
  const ofItem = problems.filter((problem) => isSameItem(problem.item, item)).map((problem) => problem.ofItem);
  return (
    <div className="item-form" role="group" aria-label={title}>
      <div className="item-head">
        <h3>{title}</h3>
        <button type="button" disabled={readOnly} onClick={onRemove}>
          Remove<span className="hidden"> {title}</span>
        </button>
      </div>
      {service ? (
        <editor.SchemaForm
          key={`${item.service} ${item.index}`}
          schema={service.schema.schema as JsonObject}
          value={content}
          onChange={onChange}
          problems={ofItem}
          readOnly={readOnly}
          idPrefix="item"
          itemNames={namesOf}
        />
      ) : (
        <p className="hint">The catalogue has no service {item.service} for your team. Edit the item in the text.</p>
      )}
    </div>
  );
}
