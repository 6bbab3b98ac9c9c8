/** The suites that every backend passes. A backend's test file calls them with a way to open it. */
export type { BackendUnderTest } from './backend.js';

import { amending } from './amend.js';
import type { BackendUnderTest } from './backend.js';
import { bus } from './bus.js';
import { catchingUp, catchingUpOnDamage } from './catch-up.js';
import { clearing } from './clearing.js';
import { admission, creating, sequencing, storing, touching } from './commit.js';
import { damageCases, damageElsewhere } from './damage.js';
import { deduplication } from './dedup.js';
import { groupRequests, joinsAndLeaves, paging, readMarks } from './directory.js';
import { flags, holding, pins } from './flags.js';
import { roles, titleAndSettings } from './group-changes.js';
import { history, singleReads } from './history.js';
import { hookQueue, hookRestart } from './hooks.js';
import { membership } from './membership.js';
import { entries, leasing, owners, waiting } from './outbox.js';
import { outsiders } from './outsiders.js';
import { rates } from './rates.js';
import { reacting, reactionBounds } from './reactions.js';
import { replies, repliesToDamage } from './replies.js';
import { restart } from './restart.js';
import { enumeration, retention, retentionOfDamage } from './retention.js';
import { suite } from './suite.js';
import { bounds, calls, counting, heads } from './summaries.js';
import { system } from './system.js';
import { blocks, erasure, profiles, reports, suspensions } from './users.js';
import { webPush } from './web-push.js';

/** All but what only a backend that survives can pass. */
export function conformance(backend: BackendUnderTest): void {
  messageStoreConformance(backend);
  suite(backend, 'Directory', {
    'joins and leaves': joinsAndLeaves,
    pages: paging,
    'read marks': readMarks,
    clearing,
    flags,
    pins,
    holding,
    'group requests': groupRequests,
  });
  suite(backend, 'Users', { profiles, blocks, suspensions, webPush, reports, erasure });
  suite(backend, 'Bus', { 'between processes': bus });
  suite(backend, 'Rates', { windows: rates });
  suite(backend, 'Outbox', { entries, leases: leasing, owners, waiting });
  suite(backend, 'HookQueue', { 'the webhook': hookQueue });
}

/** For a backend that survives: it has `reopen`. */
export function restartConformance(backend: BackendUnderTest): void {
  suite(backend, 'Restart', { 'closed and opened again': restart, 'the webhook, closed and opened again': hookRestart });
}

function messageStoreConformance(backend: BackendUnderTest): void {
  suite(backend, 'MessageStore', {
    'a new conversation': creating,
    "the sender's own list": touching,
    sequences: sequencing,
    'a stored message': storing,
    'who may send': admission,
    'the system': system,
    'joins and leaves': membership,
    roles,
    'title and settings': titleAndSettings,
    'de-duplication': deduplication,
    amendments: amending,
    reactions: reacting,
    'bounds of reactions': reactionBounds,
    history,
    replies,
    'single reads': singleReads,
    'catching up': catchingUp,
    retention,
    'all conversations': enumeration,
    'what is unread': counting,
    'the bound of 200': bounds,
    'head and preview': heads,
    'calls for a list': calls,
    ...(backend.damageKinds && {
      damage: damageCases(backend.damageKinds),
      'damage and what it reaches': damageElsewhere,
      outsiders,
      'replies to damage': repliesToDamage,
      'catching up on damage': catchingUpOnDamage,
      'retention of damage': retentionOfDamage,
    }),
  });
}
