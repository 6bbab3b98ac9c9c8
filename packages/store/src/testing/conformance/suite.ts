/** How cases become tests. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { BackendUnderTest, OpenedBackend } from './backend.js';
import { Fixture } from './fixture.js';

/** By the sentence that each of them proves. */
export type Cases = Readonly<Record<string, (fixture: Fixture) => Promise<void>>>;

/** Registers the cases as tests over one store; each has conversations and users of its own. */
export function suite(backend: BackendUnderTest, contract: string, groups: Readonly<Record<string, Cases>>): void {
  describe(`${contract} conformance: ${backend.name}`, () => {
    let opened: OpenedBackend;
    beforeAll(async () => {
      opened = await backend.open();
    });
    afterAll(() => opened.close());
    for (const [group, cases] of Object.entries(groups)) {
      describe(group, () => {
        for (const [name, run] of Object.entries(cases)) test(name, () => run(new Fixture(opened)));
      });
    }
  });
}
