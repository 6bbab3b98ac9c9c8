/** Every kind of damage on Redis. */
import { FACT_FIELDS } from '../src/message/facts.js';
import { DAMAGE_KINDS } from '../src/testing/damage-kinds.js';
import { damageMatrix } from './damage-matrix-suite.js';
import { RedisBackend } from './redis-backend.js';
import { tamperRedis } from './tamper.js';

damageMatrix({
  name: 'Redis',
  damageKinds: DAMAGE_KINDS,
  own: [
    ...FACT_FIELDS.flatMap((name) => [`facts without ${name}`, ...(name === 'title' ? [] : [`facts, ${name} unreadable`])]),
    'index, a score of 1 in the middle',
    'index, a score of -1 in the middle',
    'index, a score of 0.5 on the first',
    'facts of a wrong type',
    'members of a wrong type',
    'records of a wrong type',
    'bodies of a wrong type',
    'reactions of a wrong type',
  ],
  async open() {
    const backend = await RedisBackend.open();
    return { backend, tamper: await tamperRedis(backend.server.url, async () => Date.now()) };
  },
});
