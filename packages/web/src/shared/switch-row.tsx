import type { ReactElement } from 'react';

interface SwitchRowProps {
  readonly label: string;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onChecked: (checked: boolean) => void;
}

export function SwitchRow({ label, checked, disabled = false, onChecked }: SwitchRowProps): ReactElement {
  return (
    <label className="flex items-center justify-between gap-4 py-1.5">
      <span className="text-sm">{label}</span>
      <input
        type="checkbox"
        role="switch"
        aria-checked={checked}
        className="switch"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChecked(event.target.checked)}
      />
    </label>
  );
}
