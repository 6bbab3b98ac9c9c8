/** The parts that react-virtuoso is given: a list for those who hear it, and what stands before and after it. */
import type { ReactElement, RefObject } from 'react';
import type { Components, ItemProps, ListProps } from 'react-virtuoso';
import { useSay } from '../shared/use-speech.js';
import type { Item } from './items.js';
import type { ListContext } from './list-item.js';

interface WithContext {
  readonly context?: ListContext;
}

function List({ context: _, ref, ...props }: ListProps & WithContext & { readonly ref?: RefObject<HTMLDivElement> }): ReactElement {
  const say = useSay();
  // biome-ignore lint/a11y/useSemanticElements: a list of list items, which the library positions
  return <div {...props} ref={ref} role="list" aria-label={say('message.list')} />;
}

function Row({ context: _, item: __, ...props }: ItemProps<Item> & WithContext): ReactElement {
  // biome-ignore lint/a11y/useSemanticElements: as above
  return <div {...props} role="listitem" />;
}

/** As high while it loads as when it says that it failed: nothing below it moves. */
function Header({ context }: WithContext): ReactElement {
  const say = useSay();
  if (context?.hasOlder !== true) {
    return <p className="px-6 pt-6 text-center text-sm text-muted">{say('message.beginning')}</p>;
  }
  return (
    <div className="flex h-14 items-center justify-center gap-3 text-sm text-muted">
      {context.older.failed ? (
        <>
          {say('message.olderFailed')}
          <button type="button" className="font-medium underline" onClick={context.older.load}>
            {say('act.tryAgain')}
          </button>
        </>
      ) : (
        say('message.older')
      )}
    </div>
  );
}

function Footer(): ReactElement {
  return <div className="h-3" />;
}

export const LIST_PARTS: Components<Item, ListContext> = {
  List: List as NonNullable<Components<Item, ListContext>['List']>,
  Item: Row,
  Header,
  Footer,
};
