import { EMBEDDED, EMBEDDED_BESIDE } from './verify-backends.js';
import { reactionCases } from './verify-reactions.js';

reactionCases(EMBEDDED);
reactionCases(EMBEDDED_BESIDE);
