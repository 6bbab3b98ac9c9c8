import type { ReactElement } from 'react';

/** Why something failed; no place is held for it. */
export function Problem({ text }: { readonly text: string }): ReactElement {
  return (
    <p role="alert" className={`text-sm text-danger ${text === '' ? '' : 'mt-2'}`}>
      {text}
    </p>
  );
}
