import { REDIS } from './verify-backends.js';
import { recordCases } from './verify-records.js';

recordCases(REDIS);
