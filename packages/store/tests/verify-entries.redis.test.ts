import { REDIS } from './verify-backends.js';
import { entryCases } from './verify-entries.js';

entryCases(REDIS);
