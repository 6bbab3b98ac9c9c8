/** The typed calls, by service: what is generated in, own values out. */
import type { Environment } from '../environment.js';
import type { Caller } from '../wire/service.js';
import { ConversationApi } from './conversation-api.js';
import { MessageApi } from './message-api.js';
import { PeopleApi } from './people-api.js';
import { SessionApi } from './session-api.js';

export interface Api {
  readonly messages: MessageApi;
  readonly session: SessionApi;
  readonly conversations: ConversationApi;
  readonly people: PeopleApi;
  readonly pause: Caller['pause'];
}

export function apiOver(caller: Caller, environment: Environment): Api {
  const context = { caller, environment };
  return {
    messages: new MessageApi(context),
    session: new SessionApi(context),
    conversations: new ConversationApi(context),
    people: new PeopleApi(context),
    pause: (ms) => caller.pause(ms),
  };
}
