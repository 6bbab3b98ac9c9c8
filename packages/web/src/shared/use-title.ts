import { useTotals } from '@qim/client/react';
import { useEffect } from 'react';

/** The tab's title says how much is unread, as the server counts it; nothing while that is not known. */
export function useTitle(): void {
  const { totals } = useTotals();
  const count = totals === undefined || totals.unreadCount === 0 ? '' : `(${totals.unreadCount}${totals.exact ? '' : '+'}) `;
  useEffect(() => {
    document.title = `${count}qim`;
    return () => {
      document.title = 'qim';
    };
  }, [count]);
}
