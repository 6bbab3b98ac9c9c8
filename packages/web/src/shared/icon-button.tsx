import type { LucideIcon } from 'lucide-react';
import type { ComponentProps, ReactElement } from 'react';

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  readonly icon: LucideIcon;
  /** What it does: its name, and what hovering shows. */
  readonly label: string;
  readonly small?: boolean;
}

export function IconButton({ icon: Icon, label, small = false, className = '', ...rest }: IconButtonProps): ReactElement {
  // A finger is wider than a pointer.
  const size = small ? 'size-7 rounded-md [@media(hover:none)]:size-9' : 'size-9 rounded-lg [@media(hover:none)]:size-10';
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`flex shrink-0 items-center justify-center text-muted hover:bg-hover hover:text-ink disabled:opacity-40 ${size} ${className}`}
      {...rest}
    >
      <Icon aria-hidden="true" className={small ? 'size-4' : 'size-5'} />
    </button>
  );
}
