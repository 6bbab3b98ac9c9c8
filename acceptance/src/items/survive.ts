import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type CommandLog, type Random, type RedisServer, rawRedis, SEEDS, seededRandom } from '@qim/store/testing';
import { Crowd } from '../crowd.js';
import type { Item } from '../item.js';
import type { Stage } from '../stage.js';

const KILLS = 10;
/** Of load before each kill. */
const LOAD_MS_MIN = 150;
const LOAD_MS_MAX = 700;
const SENDERS = 3;
/** Which the old system kept beside the records, and nobody may touch. */
const RETIRED = 'hist:';
const GARBAGE = 'neither-a-list-nor-a-number';

/** What each life of each redis-server was asked to do with keys of the old system. */
class RetiredKeys {
  readonly #nodes: readonly RedisServer[];
  readonly #keys: readonly string[];
  readonly #logs = new Map<RedisServer, CommandLog>();
  #commands = 0;

  constructor(nodes: readonly RedisServer[], conversationIds: readonly string[]) {
    this.#nodes = nodes;
    this.#keys = conversationIds.map((id) => `${RETIRED}${id}`);
  }

  /** Of a Cluster one node takes the key, and the others say whose it is. */
  async fill(): Promise<void> {
    for (const key of this.#keys) assert.equal((await this.#ask('SET', key, GARBAGE)).filter((answer) => answer === '+OK').length, 1, key);
    await Promise.all(this.#nodes.map((node) => this.watch(node)));
  }

  async watch(node: RedisServer): Promise<void> {
    this.#logs.set(node, await node.commandLog());
  }

  /** Of a server that lives, or has just been killed. */
  judge(node: RedisServer): void {
    const log = this.#logs.get(node);
    const commands = log?.received() ?? [];
    log?.close();
    this.#commands += commands.length;
    const touched = commands.find(({ args }) => args.some((arg) => arg.includes(RETIRED)));
    assert.equal(touched, undefined, `a key of the old system was touched: ${touched?.name}`);
  }

  async unchanged(): Promise<void> {
    for (const node of this.#nodes) this.judge(node);
    assert.ok(this.#commands > 1_000, `the command log saw the load: ${this.#commands} commands`);
    for (const key of this.#keys) assert.equal((await this.#ask('GET', key)).filter((answer) => answer === GARBAGE).length, 1, key);
  }

  #ask(...command: readonly string[]): Promise<string[]> {
    return Promise.all(this.#nodes.map(({ port }) => rawRedis(port, ...command)));
  }
}

async function killOne(stage: Stage, random: Random, retired: RetiredKeys): Promise<void> {
  if (stage.nodes.length === 0 || random.below(2) === 0) {
    await stage.kill();
    await stage.start();
    return;
  }
  const node = random.pick(stage.nodes);
  await node.kill();
  retired.judge(node);
  await node.restart();
  await retired.watch(node);
}

async function surviving(stage: Stage, random: Random): Promise<void> {
  const people = await Promise.all(Array.from({ length: SENDERS }, (_, i) => stage.person(`survivor${i}`)));
  const [first, second, ...others] = people;
  assert.ok(first !== undefined && second !== undefined);
  const group = await first.createGroup('while things die', [second, ...others]);
  const hello = await first.sayTo(second.id, 'hello');
  const retired = new RetiredKeys(stage.nodes, [group, hello.conversationId]);
  if (stage.nodes.length > 0) await retired.fill();

  const crowds = [new Crowd(group, people, random), new Crowd(hello.conversationId, [first, second], random)];
  crowds[1]?.acknowledge(hello, first, 'hello');
  const running = Promise.all(crowds.map((crowd) => crowd.run()));
  for (let kill = 0; kill < KILLS; kill += 1) {
    await pause(LOAD_MS_MIN + random.below(LOAD_MS_MAX - LOAD_MS_MIN));
    await killOne(stage, random, retired);
  }
  for (const crowd of crowds) crowd.stop();
  await running;
  for (const crowd of crowds) {
    assert.ok(crowd.failures > 0, 'the kills were felt');
    assert.ok(crowd.acknowledged > KILLS, 'there was load');
    await crowd.check();
  }
  if (stage.nodes.length > 0) await retired.unchanged();
}

export const survive: Item = {
  number: '15',
  name: 'survive',
  shows: 'server and Redis killed at random under load, 10 times: nothing acknowledged lost, nothing doubled, every count right',
  async run(stage) {
    const seed = randomInt(SEEDS);
    try {
      await surviving(stage, seededRandom(seed));
    } catch (error) {
      throw new Error(`with the seed ${seed}`, { cause: error });
    }
  },
};
