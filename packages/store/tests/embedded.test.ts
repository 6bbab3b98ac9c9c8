/** The embedded store keeps the contracts, as the reference model and Redis do. */
import {
  busConformance,
  directoryConformance,
  hooksConformance,
  messageStoreConformance,
  outboxConformance,
  ratesConformance,
  restartConformance,
  usersConformance,
} from '../src/testing/conformance/index.js';
import { EMBEDDED_DAMAGE_KINDS, EmbeddedBackend } from './embedded-backend.js';

const backend = { name: 'embedded', damageKinds: EMBEDDED_DAMAGE_KINDS, open: () => EmbeddedBackend.open() };

messageStoreConformance(backend);
directoryConformance(backend);
usersConformance(backend);
busConformance(backend);
ratesConformance(backend);
outboxConformance(backend);
hooksConformance(backend);
restartConformance(backend);
