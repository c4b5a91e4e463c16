import { type InputHTMLAttributes, type ReactNode, useId } from "react";

type Common = { label: string; hint?: ReactNode };
type TextProps = Common & { value: string; onChange: (value: string) => void } & Omit<
    InputHTMLAttributes<HTMLInputElement>,
    "value" | "onChange" | "id"
  >;

/** Asks for a line of text, a number or a time. */
export function TextField({ label, hint, value, onChange, ...input }: TextProps) {
  const id = useId();
  return (
    <Field id={id} label={label} hint={hint}>
      <input
        {...input}
        id={id}
        value={value}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

type AreaProps = Common & { value: string; onChange: (value: string) => void; maxLength: number; required?: boolean };

/** Asks for a text of several lines. */
export function TextArea({ label, hint, value, onChange, ...area }: AreaProps) {
  const id = useId();
  return (
    <Field id={id} label={label} hint={hint}>
      <textarea
        {...area}
        id={id}
        rows={3}
        value={value}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

/** A choice with its text. */
export type Option<Value> = { value: Value; text: string };

type SelectProps<Value extends string> = Common & {
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
  required?: boolean;
};

/** Asks for one of several values. */
export function SelectField<Value extends string>({ label, hint, value, options, onChange, required }: SelectProps<Value>) {
  const id = useId();
  return (
    <Field id={id} label={label} hint={hint}>
      <select
        id={id}
        value={value}
        required={required}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.target.value as Value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </Field>
  );
}

type CheckProps = { label: ReactNode; isChecked: boolean; onChange: (isChecked: boolean) => void };

/** Asks for yes or no. */
export function CheckField({ label, isChecked, onChange }: CheckProps) {
  return (
    <label className="check field">
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.target.checked)} />
      <span>{label}</span>
    </label>
  );
}

function Field({ id, label, hint, children }: Common & { id: string; children: ReactNode }) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      {hint && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
    </div>
  );
}
