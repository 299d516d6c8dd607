import { Command, CommanderError } from 'commander';
import { configFields, featureGates, StartError, StorageOpenError, UsageError } from '../platform/index.ts';
import { backupCommand } from './backup.ts';
import { cellKubeconfigCommand } from './cell-kubeconfig.ts';
import { demo } from './demo/index.ts';
import { ipamCommands } from './ipam/index.ts';
import { runCommands } from './run.ts';
import { up, upOptions } from './up.ts';

/** What the process ends with. */
export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/** Runs the `berth` command. Resolves with the exit code; failures are one sentence on standard error. */
export async function main(args: readonly string[]): Promise<number> {
  let code: number = exitCodes.ok;
  const program = new Command('berth')
    .description('Every instance its own network interface: claim addresses the way a pod claims storage.')
    .exitOverride()
    .showHelpAfterError('(run "berth --help" for what can be typed)')
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'berth: ')) });

  upOptions(
    program
      .command('up')
      .description('Starts the whole platform on this machine and stays in the foreground until Ctrl-C.')
      .addHelpText('after', `\n${configHelp()}`),
  ).action(async (options) => {
    code = await up(options);
  });

  program
    .command('demo')
    .description('Starts a platform in a temporary folder, shows every promise at work, and checks it against IPAM.')
    .action(async () => {
      code = await demo();
    });

  backupCommand(program);
  cellKubeconfigCommand(program);
  runCommands(program, (ended) => {
    code = ended;
  });
  ipamCommands(program, (ended) => {
    code = ended;
  });

  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (error instanceof UsageError) return complain(error.message, exitCodes.usage);
    if (error instanceof StorageOpenError || error instanceof StartError)
      return complain(error.message, exitCodes.failed);
    throw error;
  }
}

function complain(message: string, code: number): number {
  process.stderr.write(`berth: ${message}\n`);
  return code;
}

function configHelp(): string {
  const rows = configFields().map(
    ({ field, default: value, description }) =>
      `  ${field}${value === '' ? '' : ` (default ${value})`}\n      ${description}`,
  );
  const gates = Object.entries(featureGates).map(
    ([name, gate]) => `  ${name}=${gate.default} (${gate.stage})\n      ${gate.description}`,
  );
  return `Fields of the configuration file (YAML):\n${rows.join('\n')}\n\nFeature gates:\n${gates.join('\n')}\n`;
}
