/**
 * What an export reads beside the scanner: what belongs to no conversation. Implementations: `../redis/archive-source`,
 * `../embedded/archive-source`. Every method may throw `StoreUnavailable`.
 */
import type { UserPlace } from '../verify/finding.js';
import type { StoreScanner } from '../verify/scanner.js';
import type { OtherLine, UserPart } from './line.js';

export interface ArchiveSource {
  readonly scanner: StoreScanner;
  /** Another text once something was committed, amended or removed, or once a cursor of the scanner leads nowhere. */
  pulse(): Promise<string>;
  /** Entries per conversation are left out: the scanner has them. Bounded by what one user may have. */
  ofUser(place: UserPlace): Promise<readonly UserPart[]>;
  /** In pages. */
  others(): AsyncIterable<readonly OtherLine[]>;
  close(): Promise<void>;
}
