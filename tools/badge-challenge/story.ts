/**
 * One story of a group, told to qim and to each rule alike. After each step stands the badge that the truth demands on one
 * device: the messages of others that this person has not read and could still read.
 */
export type Who = 'alice' | 'bob' | 'carol';
export type Device = 'phone' | 'laptop';

export interface Viewer {
  readonly who: Who;
  readonly device: Device;
}

/** `name`: of the story; a message is named once, when it is said. */
export type Happening =
  | { readonly kind: 'said'; readonly by: Who; readonly name: string }
  /** The process ends when the message is stored and before anything else is written for it; then it starts again. */
  | { readonly kind: 'saidAsProcessEnds'; readonly by: Who; readonly name: string }
  | { readonly kind: 'edited' | 'recalled' | 'deleted'; readonly name: string }
  /** Up to and with the message of that name. */
  | { readonly kind: 'read'; readonly by: Viewer; readonly name: string }
  /** So many numbers are lost: a block of them was reserved and never used. */
  | { readonly kind: 'numbersLost'; readonly count: number }
  | { readonly kind: 'joined'; readonly who: Who }
  /** All records but so many of the newest are removed, as too old. */
  | { readonly kind: 'oldRemoved'; readonly keepNewest: number };

export interface Step {
  readonly what: string;
  readonly happens: readonly Happening[];
  readonly viewer: Viewer;
  /** Of the messages of others that are unread. */
  readonly truth: number;
}

const phone: Viewer = { who: 'bob', device: 'phone' };
const laptop: Viewer = { who: 'bob', device: 'laptop' };
const carol: Viewer = { who: 'carol', device: 'phone' };

const said = (name: string, by: Who = 'alice'): Happening => ({ kind: 'said', by, name });
const MANY = Array.from({ length: 201 }, (_, i) => said(`many ${i + 1}`));

/** Who begins: alice and bob are members, nothing was said. */
export const STORY: readonly Step[] = [
  { what: 'a new group, nothing said', happens: [], viewer: phone, truth: 0 },
  { what: 'alice says two things', happens: [said('one'), said('two')], viewer: phone, truth: 2 },
  { what: 'bob reads the first', happens: [{ kind: 'read', by: phone, name: 'one' }], viewer: phone, truth: 1 },
  { what: 'bob reads the second', happens: [{ kind: 'read', by: phone, name: 'two' }], viewer: phone, truth: 0 },
  { what: '… his laptop', happens: [], viewer: laptop, truth: 0 },
  { what: 'bob says something himself', happens: [said('own', 'bob')], viewer: phone, truth: 0 },
  { what: '… his laptop', happens: [], viewer: laptop, truth: 0 },
  { what: 'alice says one thing', happens: [said('three')], viewer: laptop, truth: 1 },
  { what: 'bob writes before he has read it', happens: [said('unseeing', 'bob')], viewer: phone, truth: 1 },
  { what: 'alice edits it', happens: [{ kind: 'edited', name: 'three' }], viewer: phone, truth: 1 },
  { what: 'alice recalls it', happens: [{ kind: 'recalled', name: 'three' }], viewer: phone, truth: 0 },
  { what: 'alice says two things', happens: [said('four'), said('five')], viewer: phone, truth: 2 },
  { what: 'an admin deletes one of them', happens: [{ kind: 'deleted', name: 'four' }], viewer: phone, truth: 1 },
  { what: 'bob reads all', happens: [{ kind: 'read', by: laptop, name: 'five' }], viewer: phone, truth: 0 },
  { what: 'alice recalls what he has read', happens: [{ kind: 'recalled', name: 'five' }], viewer: phone, truth: 0 },
  {
    what: '40 numbers are lost, alice says one thing',
    happens: [{ kind: 'numbersLost', count: 40 }, said('six')],
    viewer: phone,
    truth: 1,
  },
  { what: 'carol joins', happens: [{ kind: 'joined', who: 'carol' }], viewer: carol, truth: 0 },
  { what: '… bob', happens: [], viewer: phone, truth: 1 },
  { what: 'alice says one thing', happens: [said('seven')], viewer: carol, truth: 1 },
  { what: '… bob', happens: [], viewer: phone, truth: 2 },
  {
    what: 'a crash between message and counter',
    happens: [{ kind: 'saidAsProcessEnds', by: 'alice', name: 'eight' }],
    viewer: phone,
    truth: 3,
  },
  { what: '… carol', happens: [], viewer: carol, truth: 2 },
  { what: 'all but the newest is removed as too old', happens: [{ kind: 'oldRemoved', keepNewest: 1 }], viewer: phone, truth: 1 },
  { what: '… carol', happens: [], viewer: carol, truth: 1 },
  { what: 'bob reads all', happens: [{ kind: 'read', by: phone, name: 'eight' }], viewer: laptop, truth: 0 },
  { what: 'alice says 201 things', happens: MANY, viewer: phone, truth: 201 },
];
