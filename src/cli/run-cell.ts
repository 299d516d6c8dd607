import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import {
  type CellOptions,
  createLogger,
  defaultConfig,
  type LogLevel,
  loadConfig,
  logLevels,
  parseFeatureGates,
  parseLocation,
  startCell,
} from '../platform/index.ts';
import { interruption, untilStopped } from './interruption.ts';
import { port } from './up.ts';

interface RunCellOptions {
  location: string;
  kubeconfig: string;
  context?: string;
  hubKubeconfig: string;
  hubContext?: string;
  ipamKubeconfig: string;
  ipamContext?: string;
  simulate: boolean;
  config?: string;
  featureGates?: string;
  host: string;
  port: number;
  logLevel: LogLevel;
}

const defaultCellPort = 7445;

/** Adds `berth run cell`. */
export function runCell(run: Command, ended: (code: number) => void): void {
  run
    .command('cell')
    .description(
      'Runs the controllers of one cell in a Kubernetes cluster; of several of these one works and the others wait.',
    )
    .requiredOption('--location <name>', 'location this cell is for')
    .requiredOption(
      '--kubeconfig <file>',
      'the cluster that is the cell; deploy/crds and deploy/cell are applied there',
    )
    .option('--context <name>', "its context; the file's current one where absent")
    .requiredOption('--hub-kubeconfig <file>', 'the hub')
    .option('--hub-context <name>', "its context; the file's current one where absent")
    .requiredOption('--ipam-kubeconfig <file>', 'the server of IPAM, without the path of a project')
    .option('--ipam-context <name>', "its context; the file's current one where absent")
    .option('--simulate', 'mark instances running without anything being started', false)
    .option('--config <file>', 'configuration file, YAML; its fields are those of berth up')
    .option('--feature-gates <list>', 'Name=true or Name=false, by commas; over the configuration file')
    .option('--host <address>', 'address to serve health and metrics on', '127.0.0.1')
    .option('--port <number>', 'port to serve health and metrics on; 0 takes a free one', port, defaultCellPort)
    .addOption(new Option('--log-level <level>', 'what is logged to standard error').choices(logLevels).default('warn'))
    .action(async (options: RunCellOptions) => ended(await cell(options)));
}

async function cell(options: RunCellOptions): Promise<number> {
  const location = parseLocation(options.location);
  const config = options.config === undefined ? defaultConfig() : loadConfig(options.config);
  Object.assign(config.featureGates, parseFeatureGates(options.featureGates ?? ''));
  const stopped = interruption();
  const failure = Promise.withResolvers<Error>();
  const say = (text: string): void => {
    process.stdout.write(`${text}\n`);
  };
  const running = await startCell({
    location,
    cell: server('--kubeconfig', options.kubeconfig, options.context),
    hub: server('--hub-kubeconfig', options.hubKubeconfig, options.hubContext),
    ipam: server('--ipam-kubeconfig', options.ipamKubeconfig, options.ipamContext),
    config,
    simulate: options.simulate,
    host: options.host,
    port: options.port,
    log: createLogger(options.logLevel),
    leading: (leads) => say(leads ? 'It has the lease and works.' : 'It works no longer.'),
    onFatal: failure.resolve,
  });
  const { servers, published, url } = running;
  const unpublished = published ? '' : ' (not on the hub yet: create the Location there)';
  say(`Berth runs the cell of ${location}${unpublished}`);
  say(`  cell     ${servers.cell}\n  hub      ${servers.hub}\n  IPAM     ${servers.ipam}\n  health   ${url}`);
  if (!(await untilStopped(stopped, failure.promise))) return 1;
  await running.stop();
  return 0;
}

function server(option: string, file: string, context: string | undefined): CellOptions['cell'] {
  return { option, file: resolve(file), ...(context === undefined ? {} : { context }) };
}
