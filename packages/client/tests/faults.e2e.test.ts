import { startRealServer } from '../../../tools/testing/real-server.js';
import { faultSuite } from './support/faults.js';

faultSuite('embedded', 2_000, () => startRealServer());
