/** What a Redis did between two moments, by its own account. */
import { rawRedis } from '@qim/store/testing';

export interface RedisUse {
  /** On the CPU, since it started. */
  readonly cpuSeconds: number;
  /** Commands that it ran, those inside of scripts included. */
  readonly commands: number;
  readonly scripts: number;
}

export async function redisUse(port: number): Promise<RedisUse> {
  const info = `${await rawRedis(port, 'INFO', 'cpu')}\n${await rawRedis(port, 'INFO', 'commandstats')}`;
  const sum = (pattern: RegExp) => [...info.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
  return {
    cpuSeconds: sum(/^used_cpu_(?:user|sys):([\d.]+)/gm),
    commands: sum(/^cmdstat_.*:calls=(\d+)/gm),
    scripts: sum(/^cmdstat_evalsha:calls=(\d+)/gm),
  };
}
