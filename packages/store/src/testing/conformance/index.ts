/** The suites that every backend passes. A backend's test file calls each of them with a way to open it. */
export type { BackendUnderTest, OpenedBackend } from './backend.js';

import type { BackendUnderTest } from './backend.js';
import { admission, creating, sequencing, storing } from './commit.js';
import { deduplication } from './dedup.js';
import { membership } from './membership.js';
import { suite } from './suite.js';

export function messageStoreConformance(backend: BackendUnderTest): void {
  suite(backend, 'MessageStore', {
    'a new conversation': creating,
    sequences: sequencing,
    'a stored message': storing,
    'who may send': admission,
    'joins and leaves': membership,
    'de-duplication': deduplication,
  });
}
