import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadConfig, readSettings } from '../src/config.js';
import { configurationDoc } from '../src/config-doc.js';
import { StartError } from '../src/errors.js';
import { type Config, flagOf, SETTING_NAMES, SETTINGS, type SettingName, variableOf } from '../src/settings.js';

const flags = (given: Partial<Record<SettingName, string>>) => ({ flags: given, environment: {} });
const variables = (environment: Record<string, string>) => ({ flags: {}, environment });

/** The lines of the one error that is expected. */
function problems(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(StartError);
    expect((error as StartError).code).toBe('BadConfiguration');
    return (error as StartError).message;
  }
  throw new Error('the configuration was taken');
}

describe('each setting is taken at its bounds and refused past them', () => {
  const cases: { [Name in SettingName]: { good: readonly (readonly [string, Config[Name]])[]; bad: readonly string[] } } = {
    dev: {
      good: [
        ['true', true],
        ['false', false],
      ],
      bad: ['', 'yes', '1', 'TRUE'],
    },
    host: {
      good: [
        ['::1', '::1'],
        ['0.0.0.0', '0.0.0.0'],
      ],
      bad: [''],
    },
    port: {
      good: [
        ['0', 0],
        ['65535', 65_535],
      ],
      bad: ['65536', '-1', '1.5', '', ' 80', '0x50', '8e1'],
    },
    data: { good: [['/x', '/x']], bad: [''] },
    store: {
      good: [
        ['embedded', 'embedded'],
        ['redis://127.0.0.1:6379', new URL('redis://127.0.0.1:6379')],
        ['rediss://u:p@h:1/2', new URL('rediss://u:p@h:1/2')],
        ['redis+cluster://h1:7001,h2,[::1]:7002', { href: 'redis+cluster://h1:7001,h2,[::1]:7002', host: 'h1:7001,h2,[::1]:7002' }],
        ['rediss+cluster://u:p@h1,h2', { href: 'rediss+cluster://u:p@h1,h2', host: 'h1,h2' }],
      ],
      bad: [
        ...['', 'memory', 'http://h', 'redis://', 'redis:', 'redis://h:port'],
        ...['redis+cluster://', 'redis+cluster:h', 'redis+cluster://h1,', 'redis+cluster://h1:port,h2', 'redis+cluster://h1,h2/3'],
      ],
    },
    storePasswordFile: { good: [['/x', '/x']], bad: [''] },
    roles: {
      good: [
        ['push', ['push']],
        ['push,gateway', ['gateway', 'push']],
        ['gateway,session,push', ['gateway', 'session', 'push']],
      ],
      bad: ['', 'gateway,', 'gateway,gateway', 'writer', 'gateway push'],
    },
    jwtSecretFile: { good: [['/f', '/f']], bad: [''] },
    jwksUrl: { good: [['https://h/k', new URL('https://h/k')]], bad: ['', 'h', 'file:///k'] },
    jwksIssuer: { good: [['https://h', 'https://h']], bad: [''] },
    jwksAudience: { good: [['qim', 'qim']], bad: [''] },
    allowedOrigins: {
      good: [
        ['https://a.example', ['https://a.example']],
        ['https://a.example,http://b:8080', ['https://a.example', 'http://b:8080']],
      ],
      bad: ['', '*', 'a.example', 'https://a.example/', 'https://a.example,', 'null', 'https://A.example'],
    },
    tokenClockTolerance: {
      good: [
        ['0ms', 0],
        ['60s', 60_000],
        ['1m', 60_000],
      ],
      bad: ['', '60001ms', '2m', '-1s', '5'],
    },
    trustedProxies: {
      good: [
        ['10.0.0.0/8', expect.any(Function) as never],
        ['loopback,192.0.2.1,2001:db8::/32', expect.any(Function) as never],
      ],
      bad: ['', 'proxy.example', '10.0.0.0/33', 'loopback,', '*'],
    },
    tlsCertFile: { good: [['/f', '/f']], bad: [''] },
    tlsKeyFile: { good: [['/f', '/f']], bad: [''] },
    requireDurable: { good: [['true', true]], bad: ['on'] },
    ackReplicas: {
      good: [
        ['0', 0],
        ['16', 16],
      ],
      bad: ['17', '-1', 'all', ''],
    },
    fastPaths: {
      good: [
        ['true', true],
        ['false', false],
      ],
      bad: ['off'],
    },
    logLevel: {
      good: [
        ['silent', 'silent'],
        ['trace', 'trace'],
      ],
      bad: ['', 'verbose', 'INFO'],
    },
    retentionDays: {
      good: [
        ['1', 1],
        ['36500', 36_500],
      ],
      bad: ['', '0', '36501', '1.5', '7d'],
    },
    retentionMessages: {
      good: [
        ['1', 1],
        ['1000000000', 1_000_000_000],
      ],
      bad: ['', '0', '1000000001', '-1'],
    },
    retentionFile: { good: [['/f', '/f']], bad: [''] },
    directMessages: {
      good: [
        ['anyone', new Map([[undefined, 'anyone']])],
        [
          'sharedConversation,0=anyone,4294967295=serverOnly',
          new Map<number | undefined, string>([
            [undefined, 'sharedConversation'],
            [0, 'anyone'],
            [4294967295, 'serverOnly'],
          ]) as never,
        ],
      ],
      bad: [
        '',
        'nobody',
        '7=serverOnly',
        'anyone,anyone',
        'anyone,7=serverOnly,7=anyone',
        'anyone,4294967296=anyone',
        'anyone,-1=anyone',
        'anyone,',
      ],
    },
    sendRates: {
      good: [
        ['off', {}],
        [
          'user=1/1s,tenant=1000000000/31d',
          { user: { count: 1, windowMs: 1_000 }, tenant: { count: 1_000_000_000, windowMs: 2_678_400_000 } },
        ],
        ['device=5/1m,address=6/2s', { device: { count: 5, windowMs: 60_000 }, address: { count: 6, windowMs: 2_000 } }],
      ],
      bad: [
        ...['', 'on', '5/1s', 'user', 'user=', 'user=5', 'user=0/1s', 'user=1000000001/1s', 'user=5/999ms', 'user=5/1500ms', 'user=5/32d'],
        ...['user=5/1s,user=6/1s', 'user=5/1s/1s', 'user=5/1s=6', 'group=5/1s', 'user=5/1s,', 'off,user=5/1s', 'toString=5/1s'],
      ],
    },
    tenantQuotas: {
      good: [
        ['5/1d', new Map([[undefined, { count: 5, windowMs: 86_400_000 }]])],
        [
          'off,7=5/1d,0=6/1s',
          new Map<number | undefined, object | undefined>([
            [undefined, undefined],
            [7, { count: 5, windowMs: 86_400_000 }],
            [0, { count: 6, windowMs: 1_000 }],
          ]) as never,
        ],
        ['7=off', new Map([[7, undefined]]) as never],
      ],
      bad: ['', '5', '5/1d,5/1d', '7=5/1d,7=off', '4294967296=5/1d', '-1=5/1d', 'user=5/1d', '5/1d,', '7=', '=5/1d'],
    },
    connectionsPerUser: {
      good: [
        ['1', 1],
        ['1000000', 1_000_000],
      ],
      bad: ['', '0', '1000001', 'off'],
    },
    connectionsPerAddress: {
      good: [
        ['1', 1],
        ['1000000', 1_000_000],
      ],
      bad: ['', '0', '1000001', 'off'],
    },
    recallWindow: {
      good: [
        ['0ms', 0],
        ['24h', 86_400_000],
        ['1d', 86_400_000],
      ],
      bad: ['24h1m', '86400001ms', '2d', '5', '-1s', '1.5h'],
    },
    webhookUrl: { good: [['https://h/k', new URL('https://h/k')]], bad: ['', 'h', 'file:///k', 'https://user:word@h/k'] },
    beforeSendUrl: { good: [['http://127.0.0.1:1/', new URL('http://127.0.0.1:1/')]], bad: ['', 'ftp://h', 'https://user@h/'] },
    webhookEvents: { good: [['offlinePush', ['offlinePush']]], bad: ['', 'beforeSend', 'afterSend,afterSend'] },
    webhookGiveUp: {
      good: [
        ['1s', 1_000],
        ['7d', 604_800_000],
      ],
      bad: ['999ms', '604800001ms'],
    },
    beforeSendTimeout: {
      good: [
        ['50ms', 50],
        ['5s', 5_000],
      ],
      bad: ['49ms', '5001ms'],
    },
    beforeSendFailure: { good: [['open', 'open']], bad: ['', 'ajar'] },
    webhookSecretFile: { good: [['/f', '/f']], bad: [''] },
    traces: { good: [['true', true]], bad: ['', '1'] },
    vapidKeyFile: { good: [['/f', '/f']], bad: [''] },
    vapidSubject: {
      good: [
        ['mailto:ops@chat.example', 'mailto:ops@chat.example'],
        ['https://chat.example/ops', 'https://chat.example/ops'],
      ],
      bad: ['', 'ops@chat.example', 'http://chat.example', 'mailto:ops', 'mailto:a b@c'],
    },
    webPushContent: { good: [['true', true]], bad: ['', 'yes'] },
    pushLease: {
      good: [
        ['3s', 3_000],
        ['15s', 15_000],
      ],
      bad: ['2999ms', '15001ms'],
    },
    helloTimeout: {
      good: [
        ['1s', 1_000],
        ['10s', 10_000],
      ],
      bad: ['999ms', '10001ms'],
    },
    pingInterval: {
      good: [
        ['1s', 1_000],
        ['30s', 30_000],
      ],
      bad: ['999ms', '30001ms'],
    },
    socketQueueBytes: {
      good: [
        ['262144', 262_144],
        ['1048576', 1_048_576],
      ],
      bad: ['262143', '1048577'],
    },
    drainTimeout: {
      good: [
        ['0ms', 0],
        ['1m', 60_000],
      ],
      bad: ['60001ms'],
    },
  };
  for (const name of SETTING_NAMES) {
    test(name, () => {
      for (const [text, value] of cases[name].good) expect(readSettings([name], flags({ [name]: text }))[name], text).toEqual(value);
      for (const text of cases[name].bad) {
        expect(
          problems(() => readSettings([name], flags({ [name]: text }))),
          text,
        ).toContain(flagOf(name));
      }
    });
  }
});

test('every default is one that the setting itself takes', () => {
  const values = readSettings(SETTING_NAMES, variables({}));
  for (const name of SETTING_NAMES) expect(values[name] === undefined, name).toBe(SETTINGS[name].fallback === undefined);
});

test('a flag wins over its variable, and a variable over the default', () => {
  const environment = { QIM_PORT: '7801' };
  expect(readSettings(['port'], { flags: { port: '7802' }, environment }).port).toBe(7802);
  expect(readSettings(['port'], { flags: {}, environment }).port).toBe(7801);
  expect(readSettings(['port'], variables({})).port).toBe(7700);
});

test('names of flags and variables follow the key', () => {
  expect([flagOf('jwtSecretFile'), variableOf('jwtSecretFile')]).toEqual(['--jwt-secret-file', 'QIM_JWT_SECRET_FILE']);
  expect([flagOf('dev'), variableOf('dev')]).toEqual(['--dev', 'QIM_DEV']);
});

test('all problems are told at once, under the name by which the value came', () => {
  const sources = { flags: { port: '99999' }, environment: { QIM_LOG_LEVEL: 'loud', QIM_PROT: '80', QIM_HELLO_TIMEOUT: '1h' } };
  const told = problems(() => loadConfig(sources));
  for (const name of ['--port', 'QIM_LOG_LEVEL', 'QIM_PROT', 'QIM_HELLO_TIMEOUT', '--jwt-secret-file']) expect(told).toContain(name);
  expect(told.split('\n')).toHaveLength(1 + 5);
});

test('a QIM_ variable that is no setting is a problem, and QIM_TEST_ ones are not looked at', () => {
  expect(problems(() => readSettings(['data'], variables({ QIM_STROE: 'x' })))).toBe('QIM_STROE: there is no such setting');
  expect(readSettings(['data'], variables({ QIM_TEST_INSTALL: '0', HOME: '/' })).data).toBe('./qim-data');
});

test('a secret value is never echoed, whatever is wrong with it', () => {
  const secret = 'hunter2';
  const bad = [`redis+cluster://:${secret}@h,`, `http://:${secret}@h`, `redis://:${secret}@h:port`];
  for (const value of bad) {
    const told = problems(() => loadConfig(variables({ QIM_STORE: value, QIM_JWKS_URL: secret, QIM_NOPE: secret })));
    expect(told).toContain('QIM_STORE');
    expect(told).not.toContain(secret);
  }
});

describe('settings that contradict each other are refused', () => {
  const refused: readonly (readonly [string, Partial<Record<SettingName, string>>, string])[] = [
    ['no way to check tokens', {}, 'tokens cannot be checked'],
    ['--dev on an address that others reach', { dev: 'true', host: '0.0.0.0' }, 'loopback'],
    ['--dev on a name', { dev: 'true', host: 'chat.example' }, 'loopback'],
    ['a certificate without its key', { dev: 'true', tlsCertFile: 'f' }, 'go together'],
    ['a key without its certificate', { dev: 'true', tlsKeyFile: 'f' }, 'go together'],
    ['a secret and a JWKS', { jwtSecretFile: 'f', jwksUrl: 'https://h' }, 'give one of them'],
    ['--dev and a JWKS', { dev: 'true', jwksUrl: 'https://h' }, '--jwks-url'],
    ['an issuer without a JWKS', { dev: 'true', jwksIssuer: 'x' }, '--jwks-url'],
    ['an audience without a JWKS', { dev: 'true', jwksAudience: 'x' }, '--jwks-url'],
    ['a password file for the embedded store', { dev: 'true', storePasswordFile: 'f' }, 'goes with a Redis'],
    ['replicas of the embedded store', { dev: 'true', ackReplicas: '1' }, 'goes with a Redis'],
    ['a webhook without a secret', { dev: 'true', webhookUrl: 'https://h' }, '--webhook-secret-file'],
    ['a question without a secret', { dev: 'true', beforeSendUrl: 'https://h' }, '--webhook-secret-file'],
    ['an embedded gateway without push', { dev: 'true', roles: 'gateway' }, 'needs push'],
  ];
  for (const [name, given, words] of refused) {
    test(name, () => expect(problems(() => loadConfig(flags(given)))).toContain(words));
  }

  test('and what goes together is taken', () => {
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) expect(loadConfig(flags({ dev: 'true', host })).host).toBe(host);
    expect(loadConfig(flags({ dev: 'true', jwtSecretFile: 'f' })).dev).toBe(true);
    expect(loadConfig(flags({ jwtSecretFile: 'f', roles: 'gateway', store: 'redis://h' })).roles).toEqual(['gateway']);
    expect(loadConfig(flags({ jwtSecretFile: 'f', roles: 'session' })).roles).toEqual(['session']);
  });
});

test('docs/configuration.md is what the table says', () => {
  const file = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  expect(file).toBe(configurationDoc());
});
