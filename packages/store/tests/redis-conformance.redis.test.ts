/** The store on Redis keeps the contracts, as the reference model and the embedded store do. */
import {
  busConformance,
  directoryConformance,
  hooksConformance,
  messageStoreConformance,
  outboxConformance,
  ratesConformance,
  restartConformance,
  usersConformance,
} from '../src/testing/conformance/index.js';
import { DAMAGE_KINDS } from '../src/testing/damage-kinds.js';
import { RedisBackend } from './redis-backend.js';

const backend = { name: 'redis', damageKinds: DAMAGE_KINDS, open: () => RedisBackend.open() };

messageStoreConformance(backend);
directoryConformance(backend);
usersConformance(backend);
busConformance(backend);
ratesConformance(backend);
outboxConformance(backend);
hooksConformance(backend);
restartConformance(backend);
