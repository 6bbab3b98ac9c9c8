/** Damage to stored bytes that is the same on every backend. Each call answers new bytes. */
import { assert } from '@qim/proto';
import { getSafeU64, setU64, viewOf } from '../message/bytes.js';
import { BodyOffset, Offset, Size } from '../message/record-layout.js';
import { xxh32 } from '../message/xxh32.js';
import type { RecordDamageKind } from './damage-kinds.js';

/** The kinds that change the bytes of the record itself. */
export type ByteDamageKind = Exclude<
  RecordDamageKind,
  'recordMissing' | 'recordOfAnother' | 'bodyMissing' | 'bodyBitFlipped' | 'indexMemberMissing'
>;

const UNKNOWN_VERSION = 2;
const UNKNOWN_STATUS = 9;

export function damagedRecord(record: Uint8Array, kind: ByteDamageKind): Uint8Array {
  const bytes = new Uint8Array(record);
  const view = viewOf(bytes);
  switch (kind) {
    case 'recordTruncated':
      return bytes.subarray(0, -1);
    case 'recordBitFlipped':
      return flipped(bytes, Offset.Revision);
    case 'recordOtherTenant':
      view.setUint32(Offset.TenantId, view.getUint32(Offset.TenantId) + 1);
      return sealed(bytes);
    case 'recordOtherConversation': {
      const last = Offset.Texts + (bytes[Offset.ConversationLength] ?? 0) - 1;
      bytes[last] = String.fromCharCode(bytes[last] ?? 0) === '0' ? '1'.charCodeAt(0) : '0'.charCodeAt(0);
      return sealed(bytes);
    }
    case 'recordOtherSequence': {
      const next = getSafeU64(view, Offset.Stamp) + 1;
      setU64(view, Offset.Stamp, next);
      setU64(view, bytes.length - Size.Stamp, next);
      return bytes;
    }
    case 'recordUnknownStatus':
      bytes[Offset.Status] = UNKNOWN_STATUS;
      return sealed(bytes);
    case 'recordUnknownVersion':
      bytes[0] = UNKNOWN_VERSION;
      bytes[1] = 0xff - UNKNOWN_VERSION;
      return sealed(bytes);
  }
}

export function damagedBody(body: Uint8Array): Uint8Array {
  return flipped(new Uint8Array(body), BodyOffset.Revision);
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const byte = bytes[at];
  assert(byte !== undefined, 'the byte to damage exists');
  bytes[at] = byte ^ 1;
  return bytes;
}

/** With the checksum that belongs to it. */
function sealed(bytes: Uint8Array): Uint8Array {
  const view = viewOf(bytes);
  view.setUint32(Offset.Checksum, xxh32(view, Offset.Checked, bytes.length - Size.Stamp, view.getUint16(0)));
  return bytes;
}
