import type { LucideIcon } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';

interface NoticeProps {
  readonly icon?: LucideIcon;
  readonly title: string;
  /** What is to be known or done about it. */
  readonly children?: ReactNode;
  readonly action?: string;
  readonly onAction?: () => void;
}

/** A state in words where content would be. */
export function Notice({ icon: Icon, title, children, action, onAction }: NoticeProps): ReactElement {
  return (
    <div className="mx-auto flex max-w-sm flex-col items-center px-6 py-10 text-center">
      {Icon !== undefined && (
        <span className="mb-4 flex size-14 items-center justify-center rounded-full bg-raised text-muted">
          <Icon aria-hidden="true" className="size-6" />
        </span>
      )}
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="mt-1 text-sm text-muted">{children}</div>}
      {action !== undefined && (
        <button type="button" className="button button-quiet mt-4" onClick={onAction}>
          {action}
        </button>
      )}
    </div>
  );
}
