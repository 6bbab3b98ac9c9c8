/** Numbers in stored text: decimal, no sign, no leading zero, at most 2^53-1. One number has one text. */
import { SEQ_MAX } from '@qim/proto';
import { Malformed } from './bytes.js';

const DECIMAL = /^(?:0|[1-9][0-9]{0,15})$/;

/** @throws Malformed */
export function parseDecimal(text: string | undefined): number {
  const value = text !== undefined && DECIMAL.test(text) ? Number(text) : -1;
  if (value < 0 || value > SEQ_MAX) throw new Malformed('no decimal number up to 2^53-1');
  return value;
}

/** Exactly `count` numbers with one space between them. @throws Malformed */
export function parseDecimals(text: string, count: number): number[] {
  const parts = text.split(' ');
  if (parts.length !== count) throw new Malformed(`not ${count} numbers`);
  return parts.map(parseDecimal);
}
