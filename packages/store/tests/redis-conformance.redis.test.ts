/** The store on Redis keeps the contracts, as the reference model and the embedded store do. */
import { conformance, restartConformance } from '../src/testing/conformance/index.js';
import { DAMAGE_KINDS } from '../src/testing/damage-kinds.js';
import { RedisBackend } from './redis-backend.js';

const backend = { name: 'redis', damageKinds: DAMAGE_KINDS, open: () => RedisBackend.open() };

conformance(backend);
restartConformance(backend);
