export type { SessionConfig } from './config.js';
export type * from './contract.js';
export { startSession } from './main.js';
