/** The comparison itself: that it would see qim being wrong, and what it says of the other rules. */
import { expect, test } from 'vitest';
import { cellOf, challenge, type Row, tableOf } from '../badge-challenge/challenge.js';
import { type House, openHouse } from '../badge-challenge/house.js';
import { otherRules, type Rule, subtraction } from '../badge-challenge/rules.js';
import { STORY } from '../badge-challenge/story.js';

const wrongSteps = (rows: readonly Row[], rule: number) =>
  rows.filter(({ others }) => others[rule]?.right === false).map(({ what }) => what);

/** A house that shows what a rule would. */
function houseOf(rule: Rule): House {
  return {
    happens: async (happening) => rule.happens(happening),
    badge: async (viewer) => String(rule.badge(viewer)),
    close: async () => {},
  };
}

test('qim is right at every step, and every other rule is wrong somewhere', async () => {
  const rules = otherRules();
  const house = await openHouse();
  try {
    const rows = await challenge(STORY, house, rules);
    expect(rows.filter(({ qim }) => !qim.right)).toEqual([]);
    expect(wrongSteps(rows, 0)).toEqual(
      expect.arrayContaining(['bob says something himself', 'alice recalls it', 'all but the newest is removed as too old']),
    );
    expect(wrongSteps(rows, 1)).toEqual(expect.arrayContaining(['bob writes before he has read it', 'an admin deletes one of them']));
    expect(wrongSteps(rows, 2)).toEqual(expect.arrayContaining(['bob reads the first', 'a crash between message and counter']));
    expect(wrongSteps(rows, 3)).toEqual(['bob reads the first']);
    expect(tableOf(rows, rules).join('\n')).toMatch(/\nwrong +0 of 26 +14 of 26 +9 of 26 +7 of 26 +1 of 26\n/);
  } finally {
    await house.close();
  }
});

test('a house that shows another number is seen to be wrong', async () => {
  const rows = await challenge(STORY, houseOf(subtraction('max - read', [], false)), []);
  expect(rows.filter(({ qim }) => !qim.right)).toHaveLength(14);
  expect(tableOf(rows, []).join('\n')).toMatch(/\nwrong +14 of 26\n/);
});

test('a plain number must be the truth, and a bound is claimed only past the bound', () => {
  expect(cellOf('3', 3).right).toBe(true);
  expect(cellOf('2', 3).right).toBe(false);
  expect(cellOf('200+', 201).right).toBe(true);
  expect(cellOf('200+', 200).right).toBe(false);
  expect(cellOf('100+', 201).right).toBe(false);
  expect(cellOf('damaged', 0).right).toBe(false);
});
