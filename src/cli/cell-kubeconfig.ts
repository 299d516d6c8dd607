import { resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../kube/index.ts';
import { cellKubeconfig, parseLocation } from '../platform/index.ts';

/** Adds `berth cell-kubeconfig LOCATION`. */
export function cellKubeconfigCommand(program: Command): void {
  program
    .command('cell-kubeconfig')
    .argument('<location>', 'location of the cell')
    .description('Prints a kubeconfig for berth run cell, with contexts hub and ipam of a platform; good for a year.')
    .option('--data-dir <folder>', 'folder of the platform', '.berth')
    .action(async (location: string, { dataDir }: { dataDir: string }) => {
      process.stdout.write(await cellKubeconfig(resolve(dataDir), parseLocation(location), systemClock));
    });
}
