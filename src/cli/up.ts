import { relative, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';

import {
  createLogger,
  defaultCells,
  defaultConfig,
  defaultProjects,
  type LogLevel,
  loadConfig,
  logLevels,
  type Platform,
  parseCells,
  parseFeatureGates,
  parseProjects,
  startPlatform,
} from '../platform/index.ts';
import { interruption, untilStopped } from './interruption.ts';
import { paint } from './paint.ts';

export interface UpOptions {
  cells: string;
  projects: string;
  port: number;
  dataDir: string;
  inMemory: boolean;
  config?: string;
  featureGates?: string;
  logLevel: LogLevel;
}

export const defaultPort = 7443;

export function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) {
    throw new InvalidArgumentError('It must be a number from 0 to 65535; 0 takes a free one.');
  }
  return value;
}

export function upOptions(command: Command): Command {
  return command
    .option('--cells <list>', 'locations to have a cell in, NAME or NAME=CITY, by commas; only ever adds', defaultCells)
    .option('--projects <list>', 'projects to have, by commas; only ever adds', defaultProjects)
    .option('--port <number>', 'port of the API on 127.0.0.1; 0 takes a free one', port, defaultPort)
    .option('--data-dir <folder>', 'folder that holds everything', '.berth')
    .option('--in-memory', 'keep nothing: what is made is gone when it stops', false)
    .option('--config <file>', 'configuration file, YAML; its fields are below')
    .option('--feature-gates <list>', 'Name=true or Name=false, by commas; over the configuration file')
    .addOption(
      new Option('--log-level <level>', 'what is logged to standard error').choices(logLevels).default('warn'),
    );
}

/** `berth up`: runs until interrupted. Resolves with the exit code. */
export async function up(options: UpOptions): Promise<number> {
  const config = options.config === undefined ? defaultConfig() : loadConfig(options.config);
  Object.assign(config.featureGates, parseFeatureGates(options.featureGates ?? ''));
  const cells = parseCells(options.cells);
  const projects = parseProjects(options.projects);
  const stopped = interruption();
  // The store holds Secrets: no file this process makes is anybody else's to read, wherever it is copied to.
  process.umask(0o077);
  const say = (what: string, detail: string): void => {
    process.stdout.write(`  ${paint('green', '✓')} ${what.padEnd(12)} ${detail}\n`);
  };
  process.stdout.write(`${paint('bold', 'Berth')} is starting\n\n`);
  const failure = Promise.withResolvers<Error>();
  const platform = await startPlatform({
    folder: options.inMemory ? undefined : resolve(options.dataDir),
    host: '127.0.0.1',
    port: options.port,
    cells,
    projects,
    config,
    log: createLogger(options.logLevel),
    progress: say,
    onFatal: failure.resolve,
  });
  process.stdout.write(welcome(platform, options.inMemory ? undefined : options.dataDir));

  if (!(await untilStopped(stopped, failure.promise))) return 1;
  process.stdout.write('\nStopping …\n');
  await platform.stop();
  process.stdout.write(options.inMemory ? 'Stopped.\n' : `Stopped. Everything is kept in ${options.dataDir}.\n`);
  return 0;
}

function welcome(platform: Platform, folder: string | undefined): string {
  const file = relative(process.cwd(), platform.kubeconfig);
  const shown = file.startsWith('..') ? platform.kubeconfig : file;
  return [
    '',
    `  API          ${paint('cyan', platform.url)}`,
    `  kubeconfig   ${paint('cyan', shown)}`,
    `  contexts     ${platform.contexts.join(', ')}`,
    '',
    'Next, in another terminal:',
    '',
    `  ${paint('bold', `export KUBECONFIG=${platform.kubeconfig}`)}`,
    `  ${paint('bold', 'kubectl --context project-alpha apply -f examples/workload.yaml')}`,
    `  ${paint('bold', 'kubectl --context project-alpha get instances')}`,
    '',
    folder === undefined ? 'Ctrl-C stops it; nothing is kept.' : `Ctrl-C stops it; everything is kept in ${folder}.`,
    '',
  ].join('\n');
}
