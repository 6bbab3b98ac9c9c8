import type { Item } from '../item.js';
import { bound } from './bound.js';
import { damaged } from './damage.js';
import { push, replay } from './delivery.js';
import { door } from './door.js';
import { isolation } from './isolation.js';
import { head, kinds, own, unread, watermark } from './list.js';
import { mended } from './mend.js';
import { durable, once, order } from './sending.js';
import { survive } from './survive.js';

export const ITEMS: readonly Item[] = [
  door,
  durable,
  once,
  order,
  push,
  replay,
  head,
  unread,
  own,
  watermark,
  kinds,
  bound,
  damaged,
  mended,
  isolation,
  survive,
];
