/**
 * Why a server, or a command that opens a store, did not start. The message is for the operator: one line that says what
 * is wrong and what to do (BadConfiguration: one line for each problem). It never holds a secret.
 */
export type StartErrorCode =
  /** A usage error: flags or variables. */
  | 'BadConfiguration'
  /** The secret file is absent, unreadable, or too short. */
  | 'BadSecret'
  /** The certificate or its key is absent, unreadable, or they do not belong together. */
  | 'BadCertificate'
  | 'PortInUse'
  /** The address is not of this machine, or the port is not allowed. */
  | 'CannotListen'
  /** The store cannot be reached, read, or used, or another server has the data folder. */
  | 'StoreUnusable'
  /** `requireDurable` on a store whose acknowledgements survive nothing. */
  | 'NotDurable';

export class StartError extends Error {
  override readonly name = 'StartError';
  readonly code: StartErrorCode;

  constructor(code: StartErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Such as ENOENT or EADDRINUSE; undefined: it is no error of the system. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
