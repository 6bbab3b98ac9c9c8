import type { ReactElement, ReactNode } from 'react';

interface NoticeProps {
  readonly children: ReactNode;
  readonly action?: string;
  readonly onAction?: () => void;
}

/** A state in words where content would be, with at most one thing to do about it. */
export function Notice({ children, action, onAction }: NoticeProps): ReactElement {
  return (
    <div className="px-6 py-8 text-center text-muted">
      <p>{children}</p>
      {action !== undefined && (
        <button type="button" className="button button-quiet mt-3 text-ink" onClick={onAction}>
          {action}
        </button>
      )}
    </div>
  );
}
