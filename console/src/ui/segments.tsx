import type { Option } from "./form-fields";

type Props<Value extends string> = {
  legend: string;
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
};

/** Offers a few exclusive choices side by side, as radio buttons. */
export function Segments<Value extends string>({ legend, value, options, onChange }: Props<Value>) {
  return (
    <fieldset className="segments">
      <legend className="hidden">{legend}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            className="hidden"
            name={legend}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.text}</span>
        </label>
      ))}
    </fieldset>
  );
}
