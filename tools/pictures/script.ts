/** What the people of the pictures say, in both languages: [English, Chinese]. Times are of June 2026, UTC, in ascending order. */

/** A word or sentence in English and in Chinese. */
export type Both = readonly [english: string, chinese: string];

export interface Line {
  /** 'DDTHH:MM' */
  readonly at: string;
  readonly from: string;
  /** A user, or one of the groups. */
  readonly to: string;
  readonly text: Both;
  /** What it said before it was edited. */
  readonly before?: Both;
  readonly recalled?: boolean;
  readonly mentions?: readonly string[];
  /** What it replies to, by its time. */
  readonly replyTo?: string;
  readonly reactions?: readonly (readonly [emoji: string, who: readonly string[]])[];
  /** As often as said; 1 unless said. */
  readonly times?: number;
}

export interface Group {
  readonly owner: string;
  readonly title: Both;
  readonly members: readonly string[];
}

/** When the pictures are taken. */
export const NOW = '13T17:42';

export const NAMES: Readonly<Record<string, Both>> = {
  alice: ['Alice Berg', '艾丽'],
  maya: ['Maya Lindqvist', '林晓'],
  tomas: ['Tomás Rivera', '周子安'],
  jun: ['Jun Arai', '陈予'],
  nadia: ['Nadia Osei', '苏念'],
};

export const GROUPS: Readonly<Record<string, Group>> = {
  kitchen: { owner: 'jun', title: ['Office kitchen', '办公室茶水间'], members: ['alice', 'maya'] },
  hike: { owner: 'maya', title: ['Sunday hike', '周日爬山'], members: ['alice', 'tomas', 'jun', 'nadia'] },
};

/** `kitchen` is past the bound of exact counting. */
export const talk = (many: number): readonly Line[] => [
  {
    at: '02T16:05',
    from: 'nadia',
    to: 'alice',
    text: ['I found that article about chain-linked histories.', '我找到那篇讲链式历史的文章了。'],
  },
  { at: '02T16:09', from: 'alice', to: 'nadia', text: ['Wonderful, send it over', '太好了，发给我吧'] },
  { at: '08T12:30', from: 'alice', to: 'alice', text: ['Buy gas for the stove', '买炉子用的气罐'] },
  { at: '11T09:10', from: 'jun', to: 'kitchen', text: ['Who left the cups in the sink?', '谁把杯子留在水池里了？'], times: many },
  { at: '12T10:15', from: 'tomas', to: 'alice', text: ['Thanks for yesterday 🙏', '昨天谢谢你 🙏'] },
  { at: '12T10:20', from: 'alice', to: 'tomas', text: ['Any time!', '不客气！'] },
  {
    at: '12T19:02',
    from: 'maya',
    to: 'hike',
    text: ['Who is in for Sunday? The weather looks good 🌤️', '周日谁有空？天气看起来不错 🌤️'],
  },
  { at: '12T19:05', from: 'tomas', to: 'hike', text: ['Me! Same meeting point as last time?', '我！还是上次的集合点？'] },
  {
    at: '12T19:06',
    from: 'maya',
    to: 'hike',
    text: ['Yes, the small station, 9:30.\nBring something warm, it is windy up there.', '对，小车站，九点半。\n带件厚衣服，山上风大。'],
    before: ['Yes, the small station, 9:00.', '对，小车站，九点。'],
    reactions: [['👍', ['tomas', 'jun']]],
  },
  { at: '13T11:04', from: 'jun', to: 'alice', text: ['The slides are ready. Could you have a look?', '幻灯片做好了，能帮我看看吗？'] },
  {
    at: '13T11:05',
    from: 'jun',
    to: 'alice',
    text: ['No hurry, page 7 is the one I am unsure about.', '不急，主要是第 7 页我拿不准。'],
  },
  {
    at: '13T16:40',
    from: 'alice',
    to: 'hike',
    text: ['Count me in. I will bring the map and two thermos flasks.', '算我一个，我带地图和两个保温壶。'],
    reactions: [['🎉', ['nadia', 'maya', 'jun']]],
  },
  {
    at: '13T16:41',
    from: 'alice',
    to: 'hike',
    text: ['The route: https://example.org/routes/ridge-loop', '路线：https://example.org/routes/ridge-loop'],
  },
  { at: '13T16:58', from: 'tomas', to: 'hike', text: ['I may be late', '我可能会迟到'], recalled: true },
  { at: '13T17:20', from: 'jun', to: 'hike', text: ['I can take two more in my car.', '我的车还能带两个人。'] },
  {
    at: '13T17:31',
    from: 'nadia',
    to: 'hike',
    text: ['Then I am coming as well. @Alice Berg, one seat for me?', '那我也去。@艾丽 给我留个座位？'],
    mentions: ['alice'],
    replyTo: '13T17:20',
  },
];
