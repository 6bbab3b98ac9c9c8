/** Opens the port, and says in one line why it cannot. */
import type { Gateway } from '@qim/gateway';
import { StartError, systemCode } from './errors.js';
import type { Config } from './settings.js';

/** @throws StartError PortInUse | CannotListen */
export async function listen(gateway: Pick<Gateway, 'listen'>, { host, port }: Pick<Config, 'host' | 'port'>) {
  try {
    return await gateway.listen(host, port);
  } catch (error) {
    const code = systemCode(error);
    const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    if (code === 'EADDRINUSE') {
      throw new StartError('PortInUse', `${place} is in use by another process: stop it, or choose another --port`, { cause: error });
    }
    if (code === 'EACCES') throw new StartError('CannotListen', `no permission to listen on ${place}`, { cause: error });
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
      throw new StartError('CannotListen', `${host} is no address of this machine`, { cause: error });
    }
    throw error;
  }
}
