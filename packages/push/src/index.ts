export type * from './contract.js';
export type { Badge, HookAnswer, HookEvent, HookKind, Hooks, WebPushNotification, WebPushOutcome } from './hooks/ports.js';
export type { Delivery, EventBus, PushDeps, PushLog, PushObserver } from './ports.js';
export { createPush } from './push.js';
