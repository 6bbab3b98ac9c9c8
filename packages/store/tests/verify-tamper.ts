/** The verifier before the kinds of the damage matrix: those that no call need notice as well. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Fixture } from '../src/testing/conformance/fixture.js';
import { MatrixStage, type Scene } from './damage-matrix.js';
import { INDEX_KINDS, OTHER_KINDS, ownKinds, RECORD_KINDS } from './damage-matrix-kinds.js';
import type { Tamper } from './tamper.js';
import type { VerifiedBackend } from './verify-backends.js';
import { Subject } from './verify-harness.js';

export interface TamperedStore {
  readonly name: string;
  /** Of the kinds that only this store has. */
  readonly own: readonly string[];
  open(): Promise<{ readonly backend: VerifiedBackend; readonly tamper: Tamper }>;
}

const KINDS = [...RECORD_KINDS, ...INDEX_KINDS, ...OTHER_KINDS];

export function tamperedCases({ name, own, open }: TamperedStore): void {
  describe(`tampering with the ${name} store`, () => {
    let stage: MatrixStage;
    let subject: Subject;
    beforeAll(async () => {
      const { backend, tamper } = await open();
      stage = new MatrixStage(backend, tamper);
      subject = new Subject(backend, new Fixture(backend));
    });
    afterAll(async () => {
      await stage.tamper.close();
      await subject.backend.close();
    });

    /** Found, mended and gone, and the list is sound and exact. */
    async function mends({ chat }: Scene): Promise<void> {
      const scope = { tenantId: chat.tenantId, conversationId: chat.conversationId, newerIsDamage: true } as const;
      expect((await subject.verify(scope)).places).not.toEqual([]);
      expect((await subject.verify({ ...scope, repair: 'yes' })).left).toEqual([]);
      expect((await subject.verify(scope)).places).toEqual([]);
      const { summary, listing } = await chat.sound(stage.bob);
      expect(summary).toMatchObject({ latestConversationSeq: 8, unreadExact: true });
      expect([listing.previewDamage, listing.member?.joinedSeq]).toEqual([undefined, 1]);
      expect((await chat.history(stage.bob)).records.at(-1)?.conversationSeq).toBe(8);
      expect((await chat.say(stage.alice)).conversationSeq).toBeGreaterThan(8);
      expect((await subject.verify(scope)).places).toEqual([]);
    }

    test.each(KINDS.map((kind) => [kind.what, kind] as const))('%s: is found and mended', async (_, kind) => {
      const scene = await stage.scene();
      expect((await subject.verify({ tenantId: scene.chat.tenantId, conversationId: scene.chat.conversationId })).places).toEqual([]);
      await kind.apply(stage, scene);
      await mends(scene);
    });

    test.each(own)('%s: is found and mended', async (what) => {
      const [kind] = ownKinds(stage.tamper.own.filter((each) => each.what === what));
      const scene = await stage.scene();
      await kind?.apply(stage, scene);
      await mends(scene);
    });
  });
}
