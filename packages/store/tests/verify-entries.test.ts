import { EMBEDDED } from './verify-backends.js';
import { entryCases } from './verify-entries.js';

entryCases(EMBEDDED);
