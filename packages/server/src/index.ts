export { type Environment, loadConfig, readSettings, type Sources } from './config.js';
export { configurationDoc } from './config-doc.js';
export { environment } from './environment.js';
export { StartError, type StartErrorCode } from './errors.js';
export { readDevSecrets, readSecrets, type Secrets } from './secrets.js';
export { duration, durationText } from './setting.js';
export { type Config, flagOf, SETTING_NAMES, SETTINGS, type SettingName, variableOf } from './settings.js';
