import { REDIS } from './verify-backends.js';
import { runCases } from './verify-run.js';

runCases(REDIS);
