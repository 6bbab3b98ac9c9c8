/** The one reader of the process's environment. Everybody else is given it. */
import type { Environment } from './config.js';

export function environment(): Environment {
  return process.env;
}
