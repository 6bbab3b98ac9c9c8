import type { ReactElement } from 'react';

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly placeholder?: string;
  /** Ids of people: no capitals, no spelling. */
  readonly names?: boolean;
  readonly disabled?: boolean;
  /** Focus begins here when the dialog opens. */
  readonly first?: boolean;
}

export function TextField({
  label,
  value,
  onValue,
  placeholder = '',
  names = false,
  disabled = false,
  first = false,
}: TextFieldProps): ReactElement {
  return (
    <label className="block min-w-0 flex-1">
      <span className="mb-1 block text-sm text-muted">{label}</span>
      <input
        className="field"
        data-first={first ? '' : undefined}
        value={value}
        onChange={(event) => onValue(event.target.value)}
        placeholder={placeholder}
        autoCapitalize={names ? 'none' : 'sentences'}
        spellCheck={!names}
        disabled={disabled}
      />
    </label>
  );
}
