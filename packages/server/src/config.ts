/**
 * From flags and the environment to one typed value, or to one error that names every problem.
 *
 * A flag wins over a variable, a variable over the default. The environment is an argument: `environment.ts` alone reads
 * the process's.
 */
import { isIPv4 } from 'node:net';
import { StartError } from './errors.js';
import { Refusal, type Setting } from './setting.js';
import { type Config, flagOf, SETTING_NAMES, SETTINGS, type SettingName, variableOf } from './settings.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where values come from. A switch among the flags has the text `true`. */
export interface Sources {
  readonly flags: Readonly<Partial<Record<SettingName, string>>>;
  readonly environment: Environment;
}

/** Variables of the repository's own test scripts, which the server does not know. */
const TEST_PREFIX = 'QIM_TEST_';

/**
 * Every setting of `names`, and nothing about how they fit together.
 *
 * @throws StartError BadConfiguration, one line for each problem: a value that is not allowed, a `QIM_` name that is no
 * setting's
 */
export function readSettings<Name extends SettingName>(names: readonly Name[], sources: Sources): Pick<Config, Name> {
  const problems = unknownVariables(sources.environment);
  const values = readEach(names, sources, problems);
  if (problems.length > 0) throw badConfiguration(problems);
  return values;
}

/**
 * The whole configuration of `qim serve`.
 *
 * @throws StartError BadConfiguration, as above and for settings that contradict each other
 */
export function loadConfig(sources: Sources): Config {
  const problems = unknownVariables(sources.environment);
  const config = readEach(SETTING_NAMES, sources, problems);
  // Contradictions are told only of what could be read.
  problems.push(...contradictions(config));
  if (problems.length > 0) throw badConfiguration(problems);
  return config;
}

function readEach<Name extends SettingName>(names: readonly Name[], sources: Sources, problems: string[]): Pick<Config, Name> {
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const name of names) {
    const setting: Setting<unknown> = SETTINGS[name];
    const given = sources.flags[name] ?? sources.environment[variableOf(name)] ?? setting.fallback;
    if (given === undefined) {
      values[name] = undefined;
      continue;
    }
    try {
      const value = setting.parse(given);
      if (value === undefined) problems.push(wrongValue(name, setting, given, sources));
      values[name] = value;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      problems.push(`${label(name, sources)}: ${error.message}`);
    }
  }
  return values as Pick<Config, Name>;
}

function wrongValue(name: SettingName, setting: Setting<unknown>, given: string, sources: Sources): string {
  const got = setting.secret === true ? '' : `, got ${JSON.stringify(given.slice(0, 100))}`;
  return `${label(name, sources)} must be ${setting.allowed}${got}`;
}

/** By the name under which the value was given. */
function label(name: SettingName, sources: Sources): string {
  return sources.flags[name] === undefined && sources.environment[variableOf(name)] !== undefined ? variableOf(name) : flagOf(name);
}

function unknownVariables(environment: Environment): string[] {
  const known = new Set(SETTING_NAMES.map(variableOf));
  return Object.keys(environment)
    .filter((name) => name.startsWith('QIM_') && !name.startsWith(TEST_PREFIX) && !known.has(name))
    .sort()
    .map((name) => `${name}: there is no such setting`);
}

function contradictions(config: Partial<Config>): string[] {
  const problems: string[] = [];
  const { dev, host, roles, store } = config;
  if (dev === true && host !== undefined && !isLoopback(host)) {
    problems.push('--dev lets anyone sign in and listens on loopback only: --host must be 127.0.0.1, ::1 or localhost');
  }
  if (config.jwtSecretFile !== undefined && config.jwksUrl !== undefined) {
    problems.push('--jwt-secret-file and --jwks-url: give one of them');
  }
  if (dev === true && config.jwksUrl !== undefined) {
    problems.push('--dev signs tokens itself: it does not go with --jwks-url');
  }
  if ((config.jwksIssuer !== undefined || config.jwksAudience !== undefined) && config.jwksUrl === undefined) {
    problems.push('--jwks-issuer and --jwks-audience go with --jwks-url');
  }
  if (dev === false && config.jwtSecretFile === undefined && config.jwksUrl === undefined) {
    problems.push('tokens cannot be checked: give --jwt-secret-file or --jwks-url, or --dev to try qim out on this machine');
  }
  if ((config.tlsCertFile === undefined) !== (config.tlsKeyFile === undefined)) {
    problems.push('--tls-cert-file and --tls-key-file go together');
  }
  if ((config.webhookUrl ?? config.beforeSendUrl) !== undefined && config.webhookSecretFile === undefined) {
    problems.push('--webhook-url and --before-send-url need --webhook-secret-file: a receiver must be able to tell who calls');
  }
  if ((config.vapidKeyFile === undefined) !== (config.vapidSubject === undefined)) {
    problems.push('--vapid-key-file and --vapid-subject go together');
  }
  if (store === 'embedded' && config.storePasswordFile !== undefined) {
    problems.push('--store-password-file goes with a Redis: the embedded store has no password');
  }
  if (store === 'embedded' && (config.ackReplicas ?? 0) > 0) {
    problems.push('--ack-replicas goes with a Redis: the embedded store has no replicas');
  }
  if (store === 'embedded' && roles?.includes('gateway') === true && !roles.includes('push')) {
    problems.push('--roles: on the embedded store no other process can deliver, so gateway needs push beside it');
  }
  return problems;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

function badConfiguration(problems: readonly string[]): StartError {
  const message = problems.length === 1 ? `${problems[0]}` : `bad configuration\n${problems.map((one) => `  ${one}`).join('\n')}`;
  return new StartError('BadConfiguration', message);
}
