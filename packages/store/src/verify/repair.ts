/**
 * Mends what a pass finds, in small atomic steps. Each step writes only while that holds by which its findings were judged;
 * when somebody else changed it, the pass begins again. The epoch rises in the first step that puts something else where a
 * device may hold what is gone.
 */
import { FSCK_MENDED_AT_ONCE } from '@qim/proto';
import type { StoredFacts } from '../message/facts.js';
import type { ConversationPlace } from './finding.js';
import type { ConversationChange, Mend, Problem, StoreMender } from './mender.js';
import type { FactsRead } from './scanner.js';

/** Somebody else changed what was to be mended. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile';
}

type ConversationMend = Extract<Mend, { on: 'conversation' }>;

/** The steps of one pass over one conversation. */
export class ConversationRepair {
  readonly #mender: StoreMender;
  readonly #place: ConversationPlace;
  #facts: StoredFacts | undefined;
  #guard: string | undefined;
  #raised = false;

  constructor(mender: StoreMender, place: ConversationPlace) {
    this.#mender = mender;
    this.#place = place;
  }

  /** Those of `problems` that are mended now. @throws ChangedMeanwhile */
  async apply(problems: readonly Problem[], read: FactsRead): Promise<Problem[]> {
    if (this.#guard === undefined) {
      this.#facts = typeof read.facts === 'object' ? read.facts : undefined;
      this.#guard = read.guard;
    }
    const mended: Problem[] = [];
    const mendable = problems.filter(({ mend }) => mend !== undefined);
    for (let from = 0; from < mendable.length; from += FSCK_MENDED_AT_ONCE) {
      const step = mendable.slice(from, from + FSCK_MENDED_AT_ONCE);
      await this.#step(step.flatMap(({ mend }) => (mend?.on === 'conversation' ? [mend] : [])));
      for (const { mend } of step) if (mend?.on === 'user') await applyToUser(this.#mender, mend);
      mended.push(...step);
    }
    return mended;
  }

  async #step(mends: readonly ConversationMend[]): Promise<void> {
    if (mends.length === 0 || this.#guard === undefined) return;
    const changes: ConversationChange[] = mends.flatMap((mend) => mend.changes);
    const facts = this.#factsAfter(mends);
    if (facts !== undefined && facts !== this.#facts) changes.push({ kind: 'facts', facts });
    if (changes.length === 0) return;
    const seen = { facts: this.#facts, guard: this.#guard, values: mends.flatMap((mend) => mend.seen ?? []) };
    if (!(await this.#mender.mendConversation(this.#place, seen, changes))) throw new ChangedMeanwhile();
    const written = changes.findLast((change) => change.kind === 'facts');
    if (written === undefined) return;
    this.#facts = written.facts;
    this.#guard = this.#mender.guardOf(written.facts);
  }

  #factsAfter(mends: readonly ConversationMend[]): StoredFacts | undefined {
    let facts = this.#facts;
    if (facts === undefined) return undefined;
    for (const mend of mends) if (mend.facts !== undefined) facts = mend.facts(facts);
    if (this.#raised || !mends.some(({ resync }) => resync === true)) return facts;
    this.#raised = true;
    return { ...facts, epoch: facts.epoch + 1 };
  }
}

/** @throws ChangedMeanwhile */
export async function applyToUser(mender: StoreMender, mend: Extract<Mend, { on: 'user' }>): Promise<void> {
  if (!(await mender.mendUser(mend.user, mend.conversationId, mend.guard, mend.changes))) throw new ChangedMeanwhile();
}
