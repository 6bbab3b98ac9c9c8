import type { ReactElement } from 'react';
import { useTranslation } from 'react-i18next';
import { useMinute } from '../shared/clock.js';
import { dayName } from '../shared/times.js';

/** Above the first message of all. */
export function Beginning(): ReactElement {
  const { t: say } = useTranslation('page');
  return <p className="px-6 pt-2 text-center text-sm text-muted">{say('message.beginning')}</p>;
}

/** Where a day begins. */
export function DayLine({ atMs }: { readonly atMs: number }): ReactElement {
  const { t: say, i18n } = useTranslation('page');
  const now = useMinute();
  return (
    <div className="flex justify-center pt-4 pb-1 text-xs font-medium text-muted">
      <span className="rounded-full bg-ink/5 px-3 py-1" data-testid="day">
        {dayName(atMs, now, { language: i18n.language, say })}
      </span>
    </div>
  );
}

/** Where what was unread begins. */
export function UnreadLine(): ReactElement {
  const { t: say } = useTranslation('page');
  return (
    <div className="flex items-center gap-3 pt-4 pb-1 text-xs font-semibold text-accent" data-testid="unread-line">
      <span className="h-px flex-1 bg-accent/40" />
      {say('message.unreadLine')}
      <span className="h-px flex-1 bg-accent/40" />
    </div>
  );
}
