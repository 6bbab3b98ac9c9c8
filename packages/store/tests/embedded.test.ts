/** The embedded store keeps the contracts, as the reference model and Redis do. */
import { conformance, restartConformance } from '../src/testing/conformance/index.js';
import { EMBEDDED_DAMAGE_KINDS, EmbeddedBackend } from './embedded-backend.js';

const backend = { name: 'embedded', damageKinds: EMBEDDED_DAMAGE_KINDS, open: () => EmbeddedBackend.open() };

conformance(backend);
restartConformance(backend);
