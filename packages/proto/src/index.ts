export * from './access.js';
export * from './close-codes.js';
export * from './consts.js';
export * from './consts-client.js';
export * from './errors.js';
export * from './ids.js';
export * from './message.js';
export * from './system-user.js';
export type * from './tracing.js';
