/** What `qim fsck` runs: verification of a whole store, and its repair (docs/fsck.md). */
export { FINDING_CODES, type Finding, type FindingCode } from './finding.js';
export type { VerifyClock, VerifyCounts, VerifyOptions, VerifyProgress, VerifyReport } from './options.js';
export type { Quarantined, StoreScanner, WalkFilter } from './scanner.js';
export { type Maintenance, verifyStore } from './verify.js';
