/** What the sample people say, in each language. `by` counts from 0 among `people`. */
import type { Language } from '../i18n/i18n.js';

interface SampleLine {
  readonly by: number;
  readonly text: string;
  /** The others put it on the line. */
  readonly react?: string;
}

export interface SampleTalk {
  readonly people: readonly { readonly userId: string; readonly name: string }[];
  readonly groupTitle: string;
  readonly group: readonly SampleLine[];
  readonly direct: readonly SampleLine[];
  /** Said in the group by the first one, to the user. */
  readonly last: string;
}

const EN: SampleTalk = {
  people: [
    { userId: 'maya', name: 'Maya Lindqvist' },
    { userId: 'tomas', name: 'Tomás Rivera' },
    { userId: 'jun', name: 'Jun Arai' },
    { userId: 'nadia', name: 'Nadia Osei' },
  ],
  groupTitle: 'Sunday hike',
  group: [
    { by: 0, text: 'Who is in for Sunday? The weather looks good 🌤️' },
    { by: 1, text: 'Me! Same meeting point as last time?' },
    { by: 0, text: 'Yes, the small station, 9:30.\nBring something warm, it is windy up there.', react: '👍' },
    { by: 2, text: 'I can take two more in my car.' },
    { by: 3, text: 'Then I am coming as well', react: '🎉' },
  ],
  direct: [
    { by: 3, text: 'Hi! I found that article about chain-linked histories.' },
    { by: 3, text: 'It explains why a hole in the numbers is no lost message: https://en.wikipedia.org/wiki/Hash_chain' },
    { by: 2, text: 'The slides are ready. Could you have a look before noon?' },
    { by: 2, text: 'No hurry, page 7 is the one I am unsure about.' },
    { by: 1, text: 'Thanks for yesterday 🙏' },
    { by: 0, text: 'Did you get your train?' },
  ],
  last: 'Are you coming on Sunday too? One seat is left.',
};

const ZH: SampleTalk = {
  people: [
    { userId: 'lin', name: '林晓' },
    { userId: 'zhou', name: '周子安' },
    { userId: 'chen', name: '陈予' },
    { userId: 'su', name: '苏念' },
  ],
  groupTitle: '周日爬山',
  group: [
    { by: 0, text: '周日谁有空？天气看起来不错 🌤️' },
    { by: 1, text: '我！还是上次的集合点？' },
    { by: 0, text: '对，小车站，九点半。\n带件厚衣服，山上风大。', react: '👍' },
    { by: 2, text: '我的车还能带两个人。' },
    { by: 3, text: '那我也去', react: '🎉' },
  ],
  direct: [
    { by: 3, text: '你好！我找到那篇讲链式历史的文章了。' },
    { by: 3, text: '里面解释了序号有空缺为什么不等于丢消息：https://zh.wikipedia.org/wiki/哈希链' },
    { by: 2, text: '幻灯片做好了，中午前能帮我看看吗？' },
    { by: 2, text: '不急，主要是第 7 页我拿不准。' },
    { by: 1, text: '昨天谢谢你 🙏' },
    { by: 0, text: '赶上火车了吗？' },
  ],
  last: '周日你也来吗？还剩一个座位。',
};

export const SAMPLE_TALK: Readonly<Record<Language, SampleTalk>> = { en: EN, zh: ZH };
