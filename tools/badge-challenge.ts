/**
 * `npm run badge-challenge`: one story, the badge that the truth demands after each step, and what qim and the rules that
 * other systems document show instead. Exits with 1 when qim is wrong anywhere.
 */
import { challenge, tableOf } from './badge-challenge/challenge.js';
import { openHouse } from './badge-challenge/house.js';
import { otherRules } from './badge-challenge/rules.js';
import { STORY } from './badge-challenge/story.js';

const house = await openHouse();
try {
  const rules = otherRules();
  const rows = await challenge(STORY, house, rules);
  process.stdout.write(`${tableOf(rows, rules).join('\n')}\n`);
  process.exitCode = rows.every(({ qim }) => qim.right) ? 0 : 1;
} finally {
  await house.close();
}
