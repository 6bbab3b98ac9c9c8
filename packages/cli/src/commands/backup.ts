/** `qim backup`: a copy of the embedded store, beside the server that has it (docs/operations.md, Backups). */
import { backUp, readSettings, STORE_SETTINGS } from '@qim/server';
import { type Command, EXIT_DONE, required } from '../command.js';

export const backup: Command = {
  name: 'backup',
  summary: 'copy the embedded store at one moment, beside a running server',
  settings: STORE_SETTINGS,
  options: [{ name: 'to', value: 'FOLDER', doc: 'a data folder that holds no store yet; made when it is missing' }],

  async run(args, io) {
    const place = readSettings(STORE_SETTINGS, { flags: args.settings, environment: io.environment });
    const to = required(args, 'to');
    await backUp(place, to);
    io.out(`copied to ${to}; before a server opens the copy: qim fsck --new-epoch --data ${to}`);
    return EXIT_DONE;
  },
};
