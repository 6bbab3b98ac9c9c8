/** The tests of the damage matrix over one backend, and its summary: all kinds that were tried were noticed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenedBackend } from '../src/testing/conformance/backend.js';
import type { DamageKind } from '../src/testing/damage-kinds.js';
import { isNoticed, type Kind, MatrixStage } from './damage-matrix.js';
import { INDEX_KINDS, namedKinds, OTHER_KINDS, ownKinds, REACTION_KINDS, RECORD_KINDS } from './damage-matrix-kinds.js';
import { SWEEPS, sweep } from './damage-matrix-sweeps.js';
import { USER_KINDS } from './damage-matrix-user.js';
import type { Tamper } from './tamper.js';

export interface MatrixBackend {
  readonly name: string;
  readonly damageKinds: readonly DamageKind[];
  /** Of the kinds that only this backend has. */
  readonly own: readonly string[];
  open(): Promise<{ readonly backend: OpenedBackend; readonly tamper: Tamper }>;
}

interface Line {
  readonly what: string;
  readonly answers: string;
  readonly noticed: boolean;
  readonly unnoticed: string | undefined;
}

export function damageMatrix({ name, damageKinds, own, open }: MatrixBackend): void {
  describe(`damage to the ${name} store`, () => {
    let backend: OpenedBackend;
    let stage: MatrixStage;
    const lines: Line[] = [];
    let waysTried = 0;
    let waysNoticed = 0;
    beforeAll(async () => {
      const opened = await open();
      backend = opened.backend;
      stage = new MatrixStage(backend, opened.tamper);
    });
    afterAll(async () => {
      await stage.tamper.close();
      await backend.close();
    });

    async function meets(kind: Kind): Promise<void> {
      const scene = await stage.scene();
      await kind.apply(stage, scene);
      const answers = await stage.answers(scene, kind.at);
      expect(answers).toEqual(kind.expected);
      lines.push({
        what: kind.what,
        answers: Object.values(answers)
          .map((answer) => answer.padEnd(10))
          .join(''),
        noticed: isNoticed(answers),
        unnoticed: kind.unnoticed,
      });
    }

    const kinds = [...namedKinds(damageKinds), ...RECORD_KINDS, ...INDEX_KINDS, ...REACTION_KINDS, ...OTHER_KINDS];
    test.each(kinds.map((kind) => [kind.what, kind] as const))('%s: each call is right or says so', (_, kind) => meets(kind));

    test.each(own)('%s: each call is right or says so', async (what) => {
      const [kind] = ownKinds(stage.tamper.own.filter((each) => each.what === what));
      if (kind === undefined) throw new Error(`the backend has no ${what}`);
      await meets(kind);
    });

    test('what only this store has is all in the matrix', () => {
      expect(stage.tamper.own.map(({ what }) => what)).toEqual(own);
    });

    test.each(USER_KINDS.map((kind) => [kind.what, kind] as const))(
      '%s: the list is right or says so',
      async (what, { run, unnoticed }) => {
        await run(stage, await stage.scene());
        lines.push({ what, answers: '', noticed: unnoticed === undefined, unnoticed });
      },
    );

    test.each(SWEEPS.map((each) => [each.what, each] as const))(
      '%s: noticed each time',
      async (_, each) => {
        const { bytes, tried, noticed } = await sweep(stage, each);
        expect(bytes).toBeGreaterThan(100);
        expect(tried).toBe(bytes * each.ways);
        expect(noticed).toBe(tried);
        waysTried += tried;
        waysNoticed += noticed;
        lines.push({ what: each.what, answers: `${noticed} of ${tried}`, noticed: true, unnoticed: undefined });
      },
      60_000,
    );

    test('kinds tried are kinds noticed, but for those that nobody need notice', () => {
      const silent = lines.filter(({ noticed }) => !noticed);
      expect(silent.filter(({ unnoticed }) => unnoticed === undefined)).toEqual([]);
      expect(lines.filter(({ noticed, unnoticed }) => noticed && unnoticed !== undefined)).toEqual([]);
      expect(lines).toHaveLength(kinds.length + own.length + USER_KINDS.length + SWEEPS.length);
      expect(waysNoticed).toBe(waysTried);
      if (process.env.QIM_DAMAGE_MATRIX === '1') console.log(summary(name, lines, silent).join('\n'));
    });
  });
}

function summary(name: string, lines: readonly Line[], silent: readonly Line[]): string[] {
  const head = ['list', 'history', 'catch-up', 'amend', 'send', 'retry'].map((call) => call.padEnd(10)).join('');
  const noticed = lines.length - silent.length;
  return [
    `${name}`.padEnd(58) + head,
    ...lines.map(({ what, answers, unnoticed }) => `${what.padEnd(58)}${answers}${unnoticed === undefined ? '' : ' *'}`),
    '',
    ...silent.map(({ what, unnoticed }) => `* ${what}: ${unnoticed}`),
    '',
    `${name}: ${noticed} kinds tried that must be noticed, ${noticed} noticed; ${silent.length} more that nobody need notice`,
  ];
}
