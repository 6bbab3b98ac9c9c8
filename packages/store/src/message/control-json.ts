/** The JSON of a Control in the stored payload: the domain value with `appData` in base64. Key order is fixed. */
import { type Control, ControlKind, type ConversationSettings, HistoryVisibility, parseUserId, Role, type UserId } from '@qim/proto';
import { Malformed } from './bytes.js';

export function controlToJson(control: Control): string {
  switch (control.kind) {
    case ControlKind.Created:
      return JSON.stringify({ kind: control.kind, title: control.title, userIds: control.userIds });
    case ControlKind.Joined:
    case ControlKind.Left:
    case ControlKind.Removed:
      return JSON.stringify({ kind: control.kind, userIds: control.userIds });
    case ControlKind.Title:
      return JSON.stringify({ kind: control.kind, title: control.title });
    case ControlKind.Role:
      return JSON.stringify({ kind: control.kind, userIds: control.userIds, role: control.role });
    case ControlKind.Settings:
      return JSON.stringify({ kind: control.kind, settings: settingsValue(control.settings) });
    case ControlKind.App:
      return JSON.stringify({ kind: control.kind, appType: control.appType, appData: Buffer.from(control.appData).toString('base64') });
  }
}

/** @throws Malformed | QimError (a user id that is none) */
export function controlFromJson(json: string): Control {
  const value = parseObject(json);
  switch (value.kind) {
    case ControlKind.Created:
      return { kind: ControlKind.Created, title: text(value.title), userIds: userIds(value.userIds) };
    case ControlKind.Joined:
    case ControlKind.Left:
    case ControlKind.Removed:
      return { kind: value.kind, userIds: userIds(value.userIds) };
    case ControlKind.Title:
      return { kind: ControlKind.Title, title: text(value.title) };
    case ControlKind.Role:
      return { kind: ControlKind.Role, userIds: userIds(value.userIds), role: role(value.role) };
    case ControlKind.Settings:
      return { kind: ControlKind.Settings, settings: settingsFromValue(value.settings) };
    case ControlKind.App:
      return { kind: ControlKind.App, appType: text(value.appType), appData: base64(value.appData) };
    default:
      throw new Malformed('no known kind of Control');
  }
}

/** What is stored: one form for settings that are the same, so that their texts may be compared. */
export function settingsValue({ historyVisibility, onlyAdminsPost, readReceipts }: ConversationSettings): ConversationSettings {
  return { historyVisibility, onlyAdminsPost, ...(readReceipts === true ? { readReceipts } : {}) };
}

/** @throws Malformed */
export function settingsFromValue(value: unknown): ConversationSettings {
  if (!isObject(value)) throw new Malformed('settings are no object');
  const { historyVisibility, onlyAdminsPost, readReceipts = false } = value;
  if (historyVisibility !== HistoryVisibility.FromJoining && historyVisibility !== HistoryVisibility.All) {
    throw new Malformed('no known historyVisibility');
  }
  if (typeof onlyAdminsPost !== 'boolean') throw new Malformed('onlyAdminsPost is no boolean');
  if (typeof readReceipts !== 'boolean') throw new Malformed('readReceipts is no boolean');
  return settingsValue({ historyVisibility, onlyAdminsPost, readReceipts });
}

/** @throws Malformed | QimError */
export function userIds(value: unknown): UserId[] {
  if (!Array.isArray(value)) throw new Malformed('user ids are no list');
  return value.map((item) => parseUserId(text(item)));
}

/** @throws Malformed when it is not the JSON of an object */
function parseObject(json: string): Record<string, unknown> {
  const value = parseJson(json);
  if (!isObject(value)) throw new Malformed('no object');
  return value;
}

/** @throws Malformed */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Malformed('no JSON', { cause: error });
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Malformed('no text');
  return value;
}

function role(value: unknown): Role {
  if (value === Role.Member || value === Role.Admin || value === Role.Owner) return value;
  throw new Malformed('no known role');
}

function base64(value: unknown): Uint8Array {
  const encoded = text(value);
  const bytes = Buffer.from(encoded, 'base64');
  // Buffer skips what is not base64; damage must not pass for other data.
  if (bytes.toString('base64') !== encoded) throw new Malformed('no base64');
  return new Uint8Array(bytes);
}
