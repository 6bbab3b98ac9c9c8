/** The typed calls, by service: generated clients in, own values out. */
import type { Transport } from '@connectrpc/connect';
import type { Environment } from '../environment.js';
import { ConversationApi } from './conversation-api.js';
import { MessageApi } from './message-api.js';
import { PeopleApi } from './people-api.js';
import { SessionApi } from './session-api.js';

export interface Api {
  readonly messages: MessageApi;
  readonly session: SessionApi;
  readonly conversations: ConversationApi;
  readonly people: PeopleApi;
}

export function apiOver(transport: Transport, environment: Environment): Api {
  return {
    messages: new MessageApi(transport, environment),
    session: new SessionApi(transport, environment),
    conversations: new ConversationApi(transport, environment),
    people: new PeopleApi(transport, environment),
  };
}
