import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'vitest';
import { type Ended, run } from '../../harness/process.ts';
import type { Running } from './platform.ts';

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The kubectl a person would run, where there is one. */
export const kubectlOnPath = (process.env.PATH ?? '')
  .split(':')
  .map((folder) => join(folder, 'kubectl'))
  .find(executable);

/** The oldest and the newest of the kubectls that lie beside each other in one well-known folder, where they do. */
export const kubectlVersions = ['1.27', '1.33'].flatMap((version) => {
  const file = `/usr/lib/google-cloud-sdk/bin/kubectl.${version}`;
  return executable(file) ? [{ version, file }] : [];
});

/** What a kubectl does with a platform: its own cache of discovery, beside the kubeconfig. */
export class Kubectl {
  readonly #file: string;
  readonly #running: Running;
  readonly #context: string;

  constructor(running: Running, context = 'project-alpha', file = kubectlOnPath) {
    if (file === undefined) throw new Error('kubectl is not installed');
    this.#file = file;
    this.#running = running;
    this.#context = context;
  }

  /** Runs it to its end, whatever that is. */
  try(args: readonly string[], input = '', env: Record<string, string> = {}): Promise<Ended> {
    const { kubeconfig } = this.#running.process;
    const common = ['--kubeconfig', kubeconfig, '--context', this.#context, '--cache-dir', `${kubeconfig}-cache`];
    return run(this.#file, [...common, ...args], { input, env });
  }

  /** Its standard output; throws what it said where it failed. */
  async run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.try(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** What it says of manifests that are refused. */
  async refused(args: readonly string[], manifest: object): Promise<string> {
    const { code, stdout, stderr } = await this.try([...args, '-f', '-'], JSON.stringify(manifest));
    if (code === 0) throw new Error(`kubectl ${args.join(' ')} was accepted: ${stdout}`);
    return stderr;
  }
}

/** A test that needs kubectl: where there is none it is reported as skipped, and says why. */
export function kubectlTest(name: string, body: (context: TestContext) => Promise<void>): void {
  test(name, async (context) => {
    context.skip(kubectlOnPath === undefined, 'kubectl is not on the PATH');
    await body(context);
  });
}

/** Rows of a table as kubectl prints it, each by its headings. Columns are where the headings are. */
export function rowsOf(table: string): Record<string, string>[] {
  const [header = '', ...lines] = table.trimEnd().split('\n');
  const columns = [...header.matchAll(/\S+( \S+)*/g)].map((match) => ({ title: match[0], start: match.index }));
  return lines.map((line) =>
    Object.fromEntries(
      columns.map(({ title, start }, index) => [title, line.slice(start, columns[index + 1]?.start).trim()]),
    ),
  );
}
