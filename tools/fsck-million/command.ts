/** `qim fsck --json` as it was built. */
import type { StoreLocation } from '@qim/store/testing';
import { type Ran, runQim } from '../testing/qim-command.js';

export interface RanFsck extends Ran {
  /** One object for each line of standard output. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

export async function fsck(location: StoreLocation, ...more: readonly string[]): Promise<RanFsck> {
  const ran = await runQim('fsck', location, ['--json', ...more]);
  const events = ran.out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
  return { ...ran, events };
}
