import { type Command, Option } from 'commander';
import { systemClock } from '../../kube/index.ts';
import { type Access, failureOf, IpamFailure, ipamExitCodes, openAccess } from './access.ts';
import { type Format, formats, type Report, render } from './output.ts';
import { pools } from './pools.ts';
import { preview } from './preview.ts';
import { askTerminal, release } from './release.ts';
import { retained } from './retained.ts';
import { who } from './who.ts';

interface Options {
  kubeconfig?: string;
  context?: string;
  output: Format;
}

const exitHelp = `
Exit codes: 0 done; 1 the server did not answer or failed; 2 typed wrong; 3 not found (nobody holds the address, nothing
has the name); 4 refused by IPAM; 5 not confirmed.
`;

/** Adds `berth ipam …`. `ended` is told the exit code. */
export function ipamCommands(program: Command, ended: (code: number) => void): void {
  const ipam = program
    .command('ipam')
    .description('Answers what operators of an address service ask, over a kubeconfig.')
    .addHelpText('after', exitHelp);
  const add = (usage: string, description: string): Command =>
    ipam
      .command(usage)
      .description(description)
      .option('--kubeconfig <file>', 'kubeconfig; KUBECONFIG or ~/.kube/config where absent')
      .option('--context <name>', 'context of a project; the current one where absent')
      .addOption(new Option('-o, --output <format>', 'how to print').choices(formats).default('table'))
      .addHelpText('after', exitHelp);
  const run = async (options: Options, work: (access: Access) => Promise<{ report: Report; code: number }>) => {
    let access: Access | undefined;
    try {
      access = openAccess(options);
      const { report, code } = await work(access);
      process.stdout.write(render(report, options.output));
      ended(code);
    } catch (error) {
      const failure = error instanceof IpamFailure ? error : failureOf(error, options.context);
      process.stderr.write(`berth: ${failure.message}\n`);
      ended(failure.code);
    } finally {
      await access?.close();
    }
  };
  const ok = async (report: Promise<Report>) => ({ report: await report, code: ipamExitCodes.ok });

  add('pools', 'Which pools fill up: utilization, largest free block, days left at the rate of the last week.')
    .option('--all', 'pools made by classes too', false)
    .action((options: Options & { all: boolean }) =>
      run(options, (access) => ok(pools(access, systemClock.now(), options.all))),
    );
  add('who <address>', 'Who holds an address: allocation, claim, interface, and who holds that.').action(
    (address: string, options: Options) => run(options, (access) => ok(who(access, address, systemClock.now()))),
  );
  add('retained', 'Addresses kept for interfaces or claims that nobody has now, and since when.').action(
    (options: Options) => run(options, (access) => ok(retained(access, systemClock.now()))),
  );
  add('preview', 'What the IPClaims of a file would get now; nothing is kept.')
    .requiredOption('-f, --filename <file>', 'YAML or JSON; - reads standard input')
    .option('-n, --namespace <name>', 'namespace of claims that name none', 'default')
    .action((options: Options & { filename: string; namespace: string }) =>
      run(options, async (access) => {
        const { report, refused } = await preview(access, options.filename, options.namespace);
        return { report, code: refused ? ipamExitCodes.refused : ipamExitCodes.ok };
      }),
    );
  add(
    'release <name>',
    'Releases the address of an IPClaim, or a retained IPAllocation; asks first, and records an Event.',
  )
    .option('-n, --namespace <name>', 'its namespace', 'default')
    .option('-y, --yes', 'do not ask', false)
    .action((name: string, options: Options & { namespace: string; yes: boolean }) =>
      run(options, (access) =>
        ok(release(access, options.namespace, name, options.yes ? async () => true : askTerminal)),
      ),
    );
}
