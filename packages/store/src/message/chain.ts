/**
 * The chain of records: each names the sequence of the record before it, so that holes are legal and a record that is
 * missing from the index is noticed all the same. Lists, history and verification check it with this one class.
 */
import type { ConversationSeq } from '@qim/proto';

export class Chain {
  #last: ConversationSeq | undefined;
  readonly #floor: ConversationSeq;

  /**
   * `floor`: where the records that will be shown begin, exclusively. The record before the first one must lie at or
   * below it: max(watermark or page position, retainedFrom - 1).
   */
  constructor(floor: ConversationSeq) {
    this.#floor = floor;
  }

  /** Takes the next record in ascending order. False: something between it and the one before is missing. */
  follows(sequence: ConversationSeq, prevSequence: ConversationSeq): boolean {
    const linked = this.#last === undefined ? prevSequence <= this.#floor : prevSequence === this.#last;
    this.#last = sequence;
    return linked;
  }
}

export function chainFloor(position: ConversationSeq, retainedFrom: ConversationSeq): ConversationSeq {
  return Math.max(position, retainedFrom - 1) as ConversationSeq;
}
