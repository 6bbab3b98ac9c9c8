import { type ReactElement, useId } from 'react';

interface ChoiceProps<V extends string> {
  readonly label: string;
  readonly value: V;
  readonly options: readonly { readonly value: V; readonly text: string }[];
  readonly onValue: (value: V) => void;
}

/** One of a few, all of which show. */
export function Choice<V extends string>({ label, value, options, onValue }: ChoiceProps<V>): ReactElement {
  const name = useId();
  return (
    <fieldset>
      <legend className="mb-1 text-sm text-muted">{label}</legend>
      <div className="flex gap-1 rounded-lg bg-raised p-1">
        {options.map((option) => (
          <label
            key={option.value}
            className="flex-1 cursor-pointer rounded-md py-1 text-center text-sm has-checked:bg-pane has-checked:font-medium has-checked:shadow-xs has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input type="radio" name={name} className="sr-only" checked={option.value === value} onChange={() => onValue(option.value)} />
            {option.text}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
