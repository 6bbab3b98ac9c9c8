import { REDIS } from './verify-backends.js';
import { damageMatrix } from './verify-matrix.js';

damageMatrix(REDIS);
