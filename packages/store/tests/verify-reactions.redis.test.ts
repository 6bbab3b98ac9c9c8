import { REDIS } from './verify-backends.js';
import { reactionCases } from './verify-reactions.js';

reactionCases(REDIS);
