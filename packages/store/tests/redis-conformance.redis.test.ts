import { messageStoreConformance } from '../src/testing/conformance/index.js';
import { DAMAGE_KINDS } from '../src/testing/damage-kinds.js';
import { RedisBackend } from './redis-backend.js';

messageStoreConformance({ name: 'redis', damageKinds: DAMAGE_KINDS, open: () => RedisBackend.open() });
