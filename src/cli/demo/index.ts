import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '../../kube/index.ts';
import {
  createLogger,
  defaultCells,
  defaultConfig,
  defaultProjects,
  parseCells,
  parseProjects,
  startPlatform,
} from '../../platform/index.ts';
import { paint } from '../paint.ts';
import { CheckFailed, Session } from './session.ts';
import { steps } from './steps.ts';
import { addressesOf, instancesOf } from './view.ts';

const examples = new URL('../../../examples/', import.meta.url).pathname;

/**
 * `berth demo`: a whole platform in a temporary folder, every promise shown and checked against IPAM. Resolves with 0, or
 * with 1 once what was wrong has been said.
 */
export async function demo(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-demo-'));
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const failure = Promise.withResolvers<never>();
  // Nobody may be waiting yet when the store fails.
  failure.promise.catch(() => {});
  const platform = await startPlatform({
    folder,
    host: '127.0.0.1',
    port: 0,
    cells: parseCells(defaultCells),
    projects: parseProjects(defaultProjects),
    config: defaultConfig(),
    log: createLogger('error'),
    onFatal: failure.reject,
  });
  const session = new Session(platform.kubeconfig, systemClock);
  let code = 0;
  try {
    say(`${paint('bold', 'A platform of its own')} at ${platform.url}, in ${folder}\n`);
    const context = {
      session,
      examples,
      project: session.client('project-alpha'),
      cell: session.client('cell-us-central-1'),
      say,
    };
    for (const step of steps) {
      const said = await Promise.race([step.run(context), failure.promise]);
      say(`${paint('green', '✓')} ${step.title}\n  ${paint('dim', said)}`);
      if (step === steps[0]) say(`\n${await table(context.project)}\n`);
    }
    say(`\n${paint('green', `All ${steps.length} statements hold.`)}`);
  } catch (error) {
    if (!(error instanceof CheckFailed)) throw error;
    say(`${paint('red', '✗')} ${error.message}`);
    code = 1;
  } finally {
    await session.close();
    await platform.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return code;
}

/** What a person would want to see: who has which addresses. */
async function table(project: ReturnType<Session['client']>): Promise<string> {
  const rows = (await instancesOf(project, 'web')).map((instance) => {
    const { ipv6 = '', ipv4 = '', external = '' } = addressesOf(instance);
    return [instance.metadata.name, ipv6, ipv4, external];
  });
  const all = [['INSTANCE', 'IPV6', 'IPV4', 'EXTERNAL'], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('   ')}`.trimEnd())
    .join('\n');
}
