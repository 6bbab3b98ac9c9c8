import { EMBEDDED_BESIDE } from './verify-backends.js';
import { runCases } from './verify-run.js';

runCases(EMBEDDED_BESIDE);
