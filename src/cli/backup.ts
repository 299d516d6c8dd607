import { resolve } from 'node:path';
import type { Command } from 'commander';
import { backupPlatform } from '../platform/index.ts';

const restoring = `
The file holds every plane, IPAM, certificates and tokens. Whoever reads it is administrator; its mode is 0600.
To start from it, make it berth.db of a new folder:

  mkdir -m 700 restored
  cp FILE restored/berth.db
  berth up --data-dir restored
`;

/** Adds `berth backup FILE`. */
export function backupCommand(program: Command): void {
  program
    .command('backup')
    .argument('<file>', 'a new file; one that exists is left as it is')
    .description('Copies a platform into one file: everything acknowledged until now. It may go on running.')
    .option('--data-dir <folder>', 'folder of the platform', '.berth')
    .addHelpText('after', restoring)
    .action(async (file: string, { dataDir }: { dataDir: string }) => {
      process.umask(0o077);
      const bytes = await backupPlatform(resolve(dataDir), resolve(file));
      process.stdout.write(`${dataDir} is backed up in ${file} (${(bytes / 2 ** 20).toFixed(1)} MiB)\n`);
    });
}
