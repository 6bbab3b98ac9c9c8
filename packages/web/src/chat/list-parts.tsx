/** The parts that react-virtuoso is given: a list for those who hear it, and what stands before and after it. */
import type { ReactElement, RefObject } from 'react';
import type { Components, ItemProps, ListProps } from 'react-virtuoso';
import { useSay } from '../shared/use-speech.js';
import type { Item } from './items.js';
import type { ListContext } from './list-item.js';
import type { More } from './use-more.js';

interface WithContext {
  readonly context?: ListContext;
}

function List({
  ref,
  style,
  children,
  'data-testid': testId,
}: ListProps & WithContext & { readonly ref?: RefObject<HTMLDivElement> }): ReactElement {
  const say = useSay();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a list of list items, which the library positions
    <div ref={ref} style={style} data-testid={testId} role="list" aria-label={say('message.list')}>
      {children}
    </div>
  );
}

/** The library finds its items again, and what it knows of their sizes, by these. */
function Row({
  style,
  children,
  'data-index': index,
  'data-item-index': itemIndex,
  'data-known-size': knownSize,
}: ItemProps<Item> & WithContext): ReactElement {
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    <div style={style} data-index={index} data-item-index={itemIndex} data-known-size={knownSize} role="listitem">
      {children}
    </div>
  );
}

/** As high while it loads as when it says that it failed: nothing below it moves. */
function Header({ context }: WithContext): ReactElement {
  const say = useSay();
  if (context?.hasOlder !== true) return <div className="h-14" />;
  return <Loading more={context.older} text={say('message.older')} failure={say('message.olderFailed')} />;
}

function Footer({ context }: WithContext): ReactElement {
  const say = useSay();
  if (context?.hasNewer !== true) return <div className="h-3" />;
  return <Loading more={context.newer} text={say('message.newer')} failure={say('message.newerFailed')} />;
}

function Loading({ more, text, failure }: { readonly more: More; readonly text: string; readonly failure: string }): ReactElement {
  const say = useSay();
  return (
    <div className="flex h-14 items-center justify-center gap-3 text-sm text-muted">
      {more.failed ? (
        <>
          {failure}
          <button type="button" className="font-medium underline" onClick={more.load}>
            {say('act.tryAgain')}
          </button>
        </>
      ) : (
        text
      )}
    </div>
  );
}

export const LIST_PARTS: Components<Item, ListContext> = {
  List: List as NonNullable<Components<Item, ListContext>['List']>,
  Item: Row,
  Header,
  Footer,
};
