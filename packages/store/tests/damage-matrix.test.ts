/** Every kind of damage on the embedded store. */
import { damageMatrix } from './damage-matrix-suite.js';
import { EMBEDDED_DAMAGE_KINDS, EmbeddedBackend } from './embedded-backend.js';
import { tamperEmbedded } from './tamper.js';

/** The backend's own clock stands still there. */
const NOW_MS = Date.UTC(2026, 5, 1);

damageMatrix({
  name: 'embedded',
  damageKinds: EMBEDDED_DAMAGE_KINDS,
  own: ['facts cut to half', 'facts empty', 'facts, a bit flipped', 'facts of an unknown version'],
  async open() {
    const backend = await EmbeddedBackend.open({ now: () => NOW_MS });
    return { backend, tamper: await tamperEmbedded(backend.folder, () => NOW_MS) };
  },
});
