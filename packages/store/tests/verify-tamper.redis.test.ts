import { FACT_FIELDS } from '../src/message/facts.js';
import { RedisBackend } from './redis-backend.js';
import { tamperRedis } from './tamper.js';
import { REDIS } from './verify-backends.js';
import { tamperedCases } from './verify-tamper.js';

tamperedCases({
  name: REDIS.name,
  own: [
    ...FACT_FIELDS.flatMap((name) => [`facts without ${name}`, ...(name === 'title' ? [] : [`facts, ${name} unreadable`])]),
    'index, a score of 1 in the middle',
    'index, a score of -1 in the middle',
    'index, a score of 0.5 on the first',
    'facts of a wrong type',
    'bodies of a wrong type',
  ],
  async open() {
    const backend = await REDIS.open();
    if (!(backend instanceof RedisBackend)) throw new Error('it is on Redis');
    return { backend, tamper: await tamperRedis(backend.server.url, async () => Date.now()) };
  },
});
