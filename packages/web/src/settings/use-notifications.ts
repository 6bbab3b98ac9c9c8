import type { Message } from '@qim/client';
import { useQim } from '@qim/client/react';
import { useEffect } from 'react';
import { messageText, titleOf, whoText } from '../shared/texts.js';
import { useSpeech } from '../shared/use-speech.js';
import { notificationsAreOn, notify } from './notifications.js';

/** Tells of what comes while nobody looks at the page; muted conversations and one's own messages tell nothing. */
export function useNotifications(onOpen: (conversationId: string) => void): void {
  const client = useQim();
  const { say, userId } = useSpeech();
  useEffect(() => {
    const nameOf = (id: string): string => client.profiles.of(id).snapshot()?.displayName || id;
    const speech = { say, userId, nameOf };
    function tell(message: Message): void {
      const { conversationId, senderUserId } = message;
      const entry = client.conversations.snapshot().conversations.find((one) => one.conversationId === conversationId);
      if (entry?.flags.muted === true) return;
      const sender = whoText(senderUserId, speech);
      const said = messageText(message, speech);
      const isGroup = entry?.kind === 'group';
      const title = isGroup ? titleOf(entry, speech) : sender;
      notify({
        title,
        text: isGroup ? say('message.said', { who: sender, text: said }) : said,
        conversationId,
        onClick: () => onOpen(conversationId),
      });
    }
    return client.onEvent((event) => {
      if (event.kind !== 'messageCommitted' || document.visibilityState === 'visible' || !notificationsAreOn()) return;
      if (event.message.senderUserId !== userId && event.message.content.kind !== 'control') tell(event.message);
    });
  }, [client, say, userId, onOpen]);
}
