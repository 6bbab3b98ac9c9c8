/** What each area runs. */
import { commitArea } from './commit/commit.js';
import { e2eArea } from './e2e/e2e.js';
import type { AreaName } from './goals.js';
import { growthArea } from './growth.js';
import { pageArea } from './page/page.js';
import type { Results } from './result.js';
import type { Scale } from './scale.js';
import { memoryArea } from './sizes.js';
import { socketsArea } from './sockets.js';

export const AREAS: Readonly<Record<AreaName, (results: Results, scale: Scale) => Promise<void>>> = {
  page: pageArea,
  commit: commitArea,
  e2e: e2eArea,
  sockets: socketsArea,
  memory: memoryArea,
  growth: growthArea,
};
