import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { createLogger, type LogLevel, logLevels, parseProjects, startIpamService } from '../platform/index.ts';
import { interruption, untilStopped } from './interruption.ts';
import { runCell } from './run-cell.ts';
import { port } from './up.ts';

interface IpamOptions {
  store: string;
  host: string;
  port: number;
  dataDir: string;
  projects: string;
  restSeconds: number;
  logLevel: LogLevel;
}

const defaultIpamPort = 7444;

/** Adds `berth run …`: one service by itself, for sites of more than one machine. */
export function runCommands(program: Command, ended: (code: number) => void): void {
  const run = program.command('run').description('Runs one service by itself, for a site of more than one machine.');
  run
    .command('ipam')
    .description('Serves the address space of projects from PostgreSQL; several of these work on one database.')
    .requiredOption(
      '--store <url>',
      'postgres://USER:PASSWORD@HOST:PORT/DATABASE; its tables are made where they are not there',
    )
    .option('--projects <list>', 'projects to have besides those in the database, by commas', '')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 takes a free one', port, defaultIpamPort)
    .option(
      '--data-dir <folder>',
      'certificates, tokens and kubeconfig; servers with the same secrets/ in it know the same clients',
      '.berth-ipam',
    )
    .option('--rest-seconds <number>', 'rest of a freed address where neither pool nor class says', seconds, 60)
    .addOption(new Option('--log-level <level>', 'what is logged to standard error').choices(logLevels).default('warn'))
    .action(async (options: IpamOptions) => ended(await ipam(options)));
  runCell(run, ended);
}

function seconds(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 86_400) throw new InvalidArgumentError('It must be a number from 0 to 86400.');
  return value;
}

async function ipam(options: IpamOptions): Promise<number> {
  const stopped = interruption();
  const failure = Promise.withResolvers<Error>();
  const service = await startIpamService({
    store: options.store,
    folder: resolve(options.dataDir),
    host: options.host,
    port: options.port,
    projects: options.projects === '' ? [] : parseProjects(options.projects),
    restSeconds: options.restSeconds,
    log: createLogger(options.logLevel),
    onFatal: failure.resolve,
  });
  const projects = service.projects.length === 0 ? 'none yet: name some with --projects' : service.projects.join(', ');
  process.stdout.write(
    `Berth IPAM serves ${service.url}\n  kubeconfig   ${service.kubeconfig}\n  projects     ${projects}\n`,
  );
  if (!(await untilStopped(stopped, failure.promise))) return 1;
  await service.stop();
  return 0;
}
