import { tamperEmbedded } from './tamper.js';
import { EMBEDDED, embeddedAt } from './verify-backends.js';
import { tamperedCases } from './verify-tamper.js';

/** The backend's own clock stands still there. */
const NOW_MS = Date.UTC(2026, 5, 1);

tamperedCases({
  name: EMBEDDED.name,
  own: ['facts cut to half', 'facts empty', 'facts, a bit flipped'],
  async open() {
    const { backend, folder } = await embeddedAt(NOW_MS);
    return { backend, tamper: await tamperEmbedded(folder, () => NOW_MS) };
  },
});
