/** What `qim fsck` runs: verification of a whole store, and its repair (docs/fsck.md). */
export { type ConversationPlace, FINDING_CODES, type Finding, type FindingCode } from './finding.js';
export { beginNewEpochs, type NewEpochs } from './new-epoch.js';
export type { VerifyClock, VerifyCounts, VerifyOptions, VerifyProgress, VerifyReport } from './options.js';
export type { Quarantined, SkippedRange, StoreScanner, WalkFilter } from './scanner.js';
export { type Maintenance, verifyStore } from './verify.js';
