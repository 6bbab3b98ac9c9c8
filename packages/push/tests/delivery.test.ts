import {
  ControlKind,
  HistoryVisibility,
  MessageStatus,
  parseConversationId,
  parseConversationSeq,
  parseDeviceId,
  type UserId,
} from '@qim/proto';
import { afterEach, describe, expect, test } from 'vitest';
import { ALICE, BOB, CAROL, device, G, openWorld, T0, T7, type World } from './support.js';

const worlds: World[] = [];
function world(...args: Parameters<typeof openWorld>): World {
  const one = openWorld(...args);
  worlds.push(one);
  return one;
}
afterEach(async () => {
  for (const one of worlds.splice(0)) await one.push.stop();
});

describe('who gets a message', () => {
  test('all devices of every member get it, in order, once; an outsider gets nothing', async () => {
    const w = world();
    const [phone, laptop, own, outsider] = [device(BOB, 'phone'), device(BOB, 'laptop'), device(ALICE, 'pad'), device(CAROL)];
    await w.connect(phone, laptop, own, outsider);
    await w.push.start();
    await w.group(ALICE, [BOB]);
    for (let n = 0; n < 20; n += 1) await w.commit(ALICE);
    await w.drained();

    const expected = ['messageCommitted 1', 'conversationChanged', ...Array.from({ length: 20 }, (_, n) => `messageCommitted ${n + 2}`)];
    expect(phone.lines).toEqual(expected);
    expect(laptop.lines).toEqual(expected);
    expect(own.lines).toEqual(expected);
    expect(outsider.lines).toEqual([]);
  });

  test('the device that sent it is left out, the sender’s other devices are not', async () => {
    const w = world();
    const [sending, other, unnamed] = [device(ALICE, 'phone'), device(ALICE, 'pad'), device(ALICE)];
    const sameNameOfAnother = device(BOB, 'phone');
    await w.group(ALICE, [BOB]);
    await w.push.start();
    await w.drained();
    await w.connect(sending, other, unnamed, sameNameOfAnother);
    await w.commit(ALICE, { sender: { userId: ALICE, deviceId: parseDeviceId('phone') } });
    await w.drained();

    expect(sending.lines).toEqual([]);
    for (const each of [other, unnamed, sameNameOfAnother]) expect(each.lines).toEqual(['messageCommitted 2']);
  });

  test('a sender without a device is told on every device', async () => {
    const w = world();
    const own = device(ALICE);
    await w.group(ALICE, []);
    await w.push.start();
    await w.drained();
    await w.connect(own);
    await w.commit(ALICE);
    await w.drained();
    expect(own.lines).toEqual(['messageCommitted 2']);
  });

  test('a membership change comes to the device that asked for it as well: its answer held no message', async () => {
    const w = world();
    const asking = device(ALICE, 'phone');
    await w.group(ALICE, []);
    await w.push.start();
    await w.drained();
    await w.connect(asking);
    const sender = { userId: ALICE, deviceId: parseDeviceId('phone') };
    const joined = { kind: ControlKind.Joined, userIds: [BOB] } as const;
    await w.control(ALICE, joined, { sender, change: { kind: 'join', userIds: [BOB] } });
    await w.control(ALICE, { kind: ControlKind.App, appType: 'poll', appData: new Uint8Array(1) }, { sender });
    await w.drained();
    expect(asking.lines).toEqual(['messageCommitted 2', 'conversationChanged']);
  });

  test('the same user id in another tenant gets nothing', async () => {
    const w = world();
    const foreign = device(BOB, 'phone', T7);
    await w.connect(foreign);
    await w.push.start();
    await w.group(ALICE, [BOB]);
    await w.drained();
    expect(foreign.lines).toEqual([]);
  });

  test('a device that ended its subscription gets nothing more, and its others still do', async () => {
    const w = world();
    const [gone, stays] = [device(BOB, 'phone'), device(BOB, 'pad')];
    const end = await w.push.subscribe(gone);
    await w.connect(stays);
    end();
    end();
    await w.push.start();
    await w.group(ALICE, [BOB]);
    await w.drained();
    expect(gone.lines).toEqual([]);
    expect(stays.lines).toHaveLength(2);
  });

  test('all receivers are handed one event object', async () => {
    const w = world();
    const [one, other] = [device(ALICE), device(BOB)];
    await w.connect(one, other);
    await w.push.start();
    await w.group(ALICE, [BOB]);
    await w.drained();
    expect(one.events[0]).toBe(other.events[0]);
  });

  test('a device that throws takes nothing from the others', async () => {
    const w = world();
    const broken = {
      ...device(ALICE),
      deliver: () => {
        throw new Error('broken');
      },
    };
    const sound = device(BOB);
    await w.push.subscribe(broken);
    await w.connect(sound);
    await w.push.start();
    await w.group(ALICE, [BOB]);
    await w.drained();
    expect(sound.lines).toHaveLength(2);
    expect((await w.store.outbox.backlog()).poison).toBe(0);
  });
});

describe('membership', () => {
  test('one who was removed gets the notice and nothing after it', async () => {
    const w = world();
    const carol = device(CAROL);
    const bob = device(BOB);
    await w.group(ALICE, [BOB, CAROL]);
    await w.push.start();
    await w.drained();
    await w.connect(carol, bob);
    await w.remove(ALICE, CAROL);
    await w.commit(ALICE);
    await w.drained();
    expect(carol.lines).toEqual(['removed']);
    expect(bob.lines).toEqual(['messageCommitted 2', 'conversationChanged', 'messageCommitted 3']);
    expect(await w.listOf(CAROL)).toEqual([]);
  });

  test('one who left is told on the other devices, and the conversation leaves the list', async () => {
    const w = world();
    const carol = device(CAROL, 'pad');
    await w.group(ALICE, [CAROL]);
    await w.push.start();
    await w.drained();
    expect(await w.listOf(CAROL)).toEqual([G]);
    await w.connect(carol);
    await w.leave(CAROL);
    await w.drained();
    expect(carol.lines).toEqual(['removed']);
    expect(await w.listOf(CAROL)).toEqual([]);
  });

  test('a new member is told from the join on, and has the conversation in the list before the event', async () => {
    const lists: Promise<unknown>[] = [];
    const w = world();
    const carol = device(CAROL);
    await w.group(ALICE, [BOB]);
    await w.commit(ALICE);
    await w.connect({
      ...carol,
      deliver: (event) => {
        carol.deliver(event);
        lists.push(w.listOf(CAROL));
      },
    });
    await w.add(ALICE, [CAROL]);
    await w.commit(BOB);
    await w.push.start();
    await w.drained();
    expect(carol.lines).toEqual(['messageCommitted 3', 'conversationChanged', 'messageCommitted 4']);
    expect(await lists[0]).toEqual([G]);
  });

  test('where the past is shown, a new member may be handed what was said before', async () => {
    const w = world();
    const carol = device(CAROL);
    await w.connect(carol);
    await w.group(ALICE, [], HistoryVisibility.All);
    await w.commit(ALICE);
    await w.add(ALICE, [CAROL]);
    await w.push.start();
    await w.drained();
    expect(carol.lines).toContain('messageCommitted 2');
  });

  test('removed and joined again before anything was delivered: in the list once, with the later floor', async () => {
    const w = world();
    const carol = device(CAROL);
    await w.connect(carol);
    await w.group(ALICE, [CAROL]);
    await w.remove(ALICE, CAROL);
    await w.commit(ALICE);
    await w.add(ALICE, [CAROL]);
    await w.push.start();
    await w.drained();
    expect(await w.listOf(CAROL)).toEqual([G]);
    expect((await w.store.directory.view(T0, CAROL, G))?.joinedSeq).toBe(4);
    expect(carol.lines).not.toContain('messageCommitted 3');
    expect(carol.lines).toContain('messageCommitted 4');
  });

  test('the last one leaves: nothing is left to deliver, and nothing waits', async () => {
    const w = world();
    await w.group(ALICE, []);
    await w.leave(ALICE);
    await w.push.start();
    await w.drained();
    expect(await w.listOf(ALICE)).toEqual([]);
    expect((await w.store.outbox.backlog()).poison).toBe(0);
  });
});

describe('lists and amendments', () => {
  test('a message moves the conversation up in every member’s list', async () => {
    const w = world();
    const other = parseConversationId('g_other');
    await w.push.start();
    await w.group(ALICE, [BOB]);
    w.time.advance(1);
    await w.group(ALICE, [BOB], HistoryVisibility.FromJoining, other);
    w.time.advance(1);
    await w.drained();
    expect(await w.listOf(BOB)).toEqual([other, G]);
    await w.commit(ALICE);
    await w.drained();
    expect(await w.listOf(BOB)).toEqual([G, other]);
  });

  test('an amendment is told as the record is now, moves nothing in the list, and is kept from who may not see it', async () => {
    const w = world();
    const [bob, carol] = [device(BOB), device(CAROL)];
    await w.group(ALICE, [BOB]);
    const sent = await w.commit(ALICE);
    w.time.advance(1);
    const other = parseConversationId('g_other');
    await w.group(BOB, [], HistoryVisibility.FromJoining, other);
    await w.add(ALICE, [CAROL]);
    await w.push.start();
    await w.drained();
    const before = await w.listOf(BOB);
    await w.connect(bob, carol);
    w.time.advance(1);
    await w.recall(sent);
    await w.drained();
    expect(bob.lines).toEqual(['messageAmended 2']);
    expect(bob.events[0]).toMatchObject({ message: { record: { status: MessageStatus.Recalled, content: { kind: 'none' } } } });
    expect(carol.lines).toEqual([]);
    expect(await w.listOf(BOB)).toEqual(before);
  });

  test('an amendment of what a reader has cleared is not told to that reader', async () => {
    const w = world();
    const [alice, bob, phone] = [device(ALICE), device(BOB), device(CAROL, 'phone')];
    await w.group(ALICE, [BOB, CAROL]);
    const sent = [await w.commit(ALICE), await w.commit(ALICE)];
    await w.push.start();
    await w.drained();
    await w.connect(alice, bob, phone);
    await w.store.directory.clear(T0, BOB, G, parseConversationSeq(2));
    for (const each of sent) await w.edit(each);
    await w.drained();
    expect(bob.lines).toEqual(['messageAmended 3']);
    for (const other of [alice, phone]) expect(other.lines).toEqual(['messageAmended 2', 'messageAmended 3']);
  });

  test('amendments that come together ask once what each reader has cleared', async () => {
    const asked: (readonly UserId[])[] = [];
    const w = world(({ directory }) => ({
      directory: {
        ...directory,
        clearedSeqs: (tenantId, conversationId, userIds) => {
          asked.push(userIds);
          return directory.clearedSeqs(tenantId, conversationId, userIds);
        },
      },
    }));
    const [alice, bob] = [device(ALICE), device(BOB)];
    await w.group(ALICE, [BOB, CAROL]);
    const sent = [await w.commit(ALICE), await w.commit(ALICE), await w.commit(ALICE)];
    for (const each of sent) await w.edit(each);
    await w.connect(alice, bob);
    await w.push.start();
    await w.drained();
    for (const { lines } of [alice, bob]) expect(lines.slice(-3)).toEqual([2, 3, 4].map((seq) => `messageAmended ${seq}`));
    expect(asked).toEqual([[ALICE, BOB]]);
  });

  test('what was recalled before it was delivered goes out without its text', async () => {
    const w = world();
    const bob = device(BOB);
    await w.connect(bob);
    await w.group(ALICE, [BOB]);
    const sent = await w.commit(ALICE, { content: { kind: 'text', text: 'regretted' } });
    await w.recall(sent);
    await w.push.start();
    await w.drained();
    expect(bob.lines).toEqual(['messageCommitted 1', 'conversationChanged', 'messageCommitted 2', 'messageAmended 2']);
    expect(JSON.stringify(bob.events)).not.toContain('regretted');
  });

  test('a read mark is announced to all devices of its user and to nobody else', async () => {
    const w = world();
    const [phone, pad, other, foreign] = [device(BOB, 'phone'), device(BOB, 'pad'), device(ALICE), device(BOB, 'phone', T7)];
    await w.connect(phone, pad, other, foreign);
    w.push.announceRead(T0, BOB, G, parseConversationSeq(9));
    expect(phone.events).toEqual([{ kind: 'readAdvanced', conversationId: G, userId: BOB, readConversationSeq: 9 }]);
    expect(pad.lines).toEqual(['readAdvanced 9']);
    expect([...other.lines, ...foreign.lines]).toEqual([]);
  });

  test('more entries of one conversation than one read of the store takes arrive whole and in order', async () => {
    const w = world();
    const bob = device(BOB);
    await w.group(ALICE, [BOB]);
    for (let n = 2; n <= 300; n += 1) await w.commit(ALICE);
    await w.connect(bob);
    await w.push.start();
    await w.drained();
    const sequences = bob.events.flatMap((event) => (event.kind === 'messageCommitted' ? [event.message.record.conversationSeq] : []));
    expect(sequences).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
  });
});
