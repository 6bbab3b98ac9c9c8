import type { ReactElement } from 'react';

/** Why something failed; its place stays while it is empty, so that nothing moves. */
export function Problem({ text }: { readonly text: string }): ReactElement {
  return (
    <p role="alert" className="mt-2 min-h-5 text-sm text-danger">
      {text}
    </p>
  );
}
