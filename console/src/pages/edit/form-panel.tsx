import { isObject } from "../../api/json";
import type { Json, Service } from "../../api/types";
import type { Editor } from "../../editor/use-editor";
import { valueAt } from "../../lib/json-paths";
import { AddItem } from "./add-item";
import { freeName, type ItemRef, itemsByService, nameOf, pathOfItem } from "./content";
import { ItemForm } from "./item-form";
import { ItemList } from "./item-list";
import type { LocatedProblem } from "./problems";
import type { TextState } from "./use-text";

type Props = {
  editor: Editor;
  state: TextState;
  services: readonly Service[];
  isNew: boolean;
  readOnly: boolean;
  selected: ItemRef | null;
  problems: LocatedProblem[];
  onSelect: (item: ItemRef | null) => void;
};

/** Shows the application as a form: its name, its items, and the fields of the selected item. */
export function FormPanel({ editor, state, services, isNew, readOnly, selected, problems, onSelect }: Props) {
  const { value } = state.valid;
  const name = nameOf(value);
  const rename = (next: string) => state.edit([], { [next]: valueAt(value, [name]) ?? {} });
  const add = (service: string) => {
    const items = itemsByService(value).find(([other]) => other === service)?.[1] ?? [];
    state.edit([name], withItem(valueAt(value, [name]), service, items));
    onSelect({ service, index: items.length });
  };
  const remove = (item: ItemRef) => {
    const rest = (valueAt(value, [name, "services", item.service]) as Json[]).length - 1;
    // A service without items has no meaning, so its name goes with the last one.
    state.edit(rest > 0 ? pathOfItem(value, item) : [name, "services", item.service], undefined);
    onSelect(rest > 0 ? { ...item, index: Math.min(item.index, rest - 1) } : null);
  };
  return (
    <section aria-label="Form" className="form-panel">
      <h2>Form</h2>
      {isNew && (
        <label className="application-name">
          Name of the application
          <input value={name} readOnly={readOnly} onChange={(event) => rename(event.target.value)} />
        </label>
      )}
      <ItemList value={value} selected={selected} problems={problems} onSelect={onSelect} />
      <AddItem services={services} readOnly={readOnly} onAdd={add} />
      {selected && (
        <ItemForm
          editor={editor}
          value={value}
          item={selected}
          service={services.find((service) => service.name === selected.service)}
          problems={problems}
          readOnly={readOnly}
          onChange={(item) => state.edit(pathOfItem(value, selected), item)}
          onRemove={() => remove(selected)}
        />
      )}
    </section>
  );
}

function withItem(application: Json | undefined, service: string, items: Json[]): Json {
  const content = isObject(application) ? application : {};
  const services = isObject(content.services) ? content.services : {};
  return { ...content, services: { ...services, [service]: [...items, { name: freeName(service, items) }] } };
}
