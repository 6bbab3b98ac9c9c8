/**
 * What can be read beside damage. A page with a damaged record is refused as a whole; a smaller one that ends before it is
 * sound. So nothing shows that the server has not called sound, and no page leaps over damage: that something is missing is
 * told by the error, and by `hasMore` or `hasNewer` towards it.
 */
import { HISTORY_PAGE_SIZE_DEFAULT } from '@qim/proto';
import type { SessionApi } from './api/session-api.js';
import { isDamage } from './errors.js';
import type { HistoryPage } from './types.js';

export interface SoundPart {
  readonly page: HistoryPage;
  /** The damage follows it: the newest message is of it. */
  readonly hasNewer: boolean;
}

/**
 * After this error of the newest page: the newest that are sound, else those before the damage that the server names. Undefined:
 * it is no damage, or none is sound. Cost: some 7 calls. @throws QimClientError
 */
export async function besideDamage(
  error: unknown,
  api: Pick<SessionApi, 'readHistory' | 'getConversation'>,
  conversationId: string,
): Promise<SoundPart | undefined> {
  if (!isDamage(error)) return undefined;
  const newest = await largestSound((limit) => api.readHistory({ conversationId, limit }));
  if (newest !== undefined) return { page: newest, hasNewer: false };
  const { damaged } = await api.getConversation(conversationId);
  const beforeSeq = damaged?.conversationSeq ?? 0;
  if (beforeSeq === 0) return undefined;
  const read = (limit: number): Promise<HistoryPage> => api.readHistory({ conversationId, beforeSeq, limit });
  const page = (await ifSound(() => read(HISTORY_PAGE_SIZE_DEFAULT))) ?? (await largestSound(read));
  return page === undefined || page.messages.length === 0 ? undefined : { page, hasNewer: true };
}

/** Of what a page of HISTORY_PAGE_SIZE_DEFAULT is refused for, by halving. Undefined: not even one message. */
async function largestSound(read: (limit: number) => Promise<HistoryPage>): Promise<HistoryPage | undefined> {
  let found = await ifSound(() => read(1));
  let sound = 1;
  let damaged = found === undefined ? 1 : HISTORY_PAGE_SIZE_DEFAULT;
  while (damaged - sound > 1) {
    const limit = (sound + damaged) >> 1;
    const page = await ifSound(() => read(limit));
    if (page === undefined) damaged = limit;
    else [found, sound] = [page, limit];
  }
  return found && { ...found, hasMore: true };
}

async function ifSound(read: () => Promise<HistoryPage>): Promise<HistoryPage | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}
