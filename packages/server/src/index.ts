export { createSecretTokens } from '@qim/gateway';
export { type Environment, loadConfig, readSettings, type Sources } from './config.js';
export { configurationDoc } from './config-doc.js';
export { environment } from './environment.js';
export { StartError, type StartErrorCode } from './errors.js';
export type { ConversationExplanation, SoundExplanation } from './explain.js';
export { type ServerIo, serverIo } from './io.js';
export {
  backUp,
  type OpenMaintenance,
  type OpenOptions,
  type OpenStore,
  openArchiveSink,
  openArchiveSource,
  openHealth,
  openMaintenance,
  openStore,
  STORE_SETTINGS,
  type StorePlace,
} from './open-store.js';
export { openReadSide, type ReadSide } from './read-side.js';
export { readDevSecrets, readSecrets, type Secrets } from './secrets.js';
export { type RunningServer, startServer } from './server.js';
export { duration, durationText, integer } from './setting.js';
export { type Config, flagOf, SETTING_NAMES, SETTINGS, type SettingName, variableOf } from './settings.js';
