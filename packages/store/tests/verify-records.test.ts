import { EMBEDDED, EMBEDDED_BESIDE } from './verify-backends.js';
import { recordCases } from './verify-records.js';

recordCases(EMBEDDED);
recordCases(EMBEDDED_BESIDE);
