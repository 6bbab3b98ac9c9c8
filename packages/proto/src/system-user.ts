/** Who speaks when the application itself does. */
import { parseUserId } from './ids.js';

/** The sender of what a backend says as the system. No token is of it, so that it is nobody's own message. */
export const SYSTEM_USER_ID = parseUserId('qim system');
