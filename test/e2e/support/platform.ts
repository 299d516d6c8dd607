import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { stringify } from 'yaml';
import { Session } from '../../../src/cli/index.ts';
import { type Client, systemClock } from '../../../src/kube/index.ts';
import { Namespace } from '../../../src/meta/index.ts';
import { type PlatformProcess, startProcess } from '../../harness/process.ts';

export const examples = new URL('../../../examples/', import.meta.url).pathname;

export const locations = ['us-central-1', 'eu-west-1'] as const;

/** Platforms that tests of this file started. */
const started: PlatformProcess[] = [];

/** A temporary folder of the file's tests, gone after them, and with it whatever a failed test left running. */
export function useFolder(): { path: string } {
  const folder = { path: '' };
  beforeAll(async () => {
    folder.path = await mkdtemp(join(tmpdir(), 'berth-e2e-'));
  });
  afterAll(async () => {
    await Promise.all(started.splice(0).map((process) => process.kill()));
    await rm(folder.path, { recursive: true, force: true });
  });
  return folder;
}

/** A platform that runs, and clients of its planes as a person has them. */
export class Running {
  readonly process: PlatformProcess;
  readonly session: Session;

  constructor(process: PlatformProcess) {
    this.process = process;
    this.session = new Session(process.kubeconfig, systemClock);
  }

  get root(): Client {
    return this.session.client('root');
  }

  get hub(): Client {
    return this.session.client('hub');
  }

  cell(location: string = locations[0]): Client {
    return this.session.client(`cell-${location}`);
  }

  project(id = 'alpha'): Client {
    return this.session.client(`project-${id}`);
  }

  /** The namespace on the hub and in the cells that stands for a namespace of a project. */
  async hubNamespace(project = 'alpha', name = 'default'): Promise<string> {
    const namespace = await this.project(project).get(Namespace, { namespace: '', name });
    if (namespace === undefined) throw new Error(`project ${project} has no namespace ${name}`);
    return `ns-${namespace.metadata.uid}`;
  }

  /** As Ctrl-C does. Resolves with the exit code. */
  async interrupt(): Promise<number> {
    await this.session.close();
    return this.process.interrupt();
  }
}

export async function start(folder: string, ...args: string[]): Promise<Running> {
  const process = await startProcess({ folder, args });
  started.push(process);
  return new Running(process);
}

export async function writeConfig(folder: string, config: object): Promise<string> {
  const file = join(folder, 'config.yaml');
  await writeFile(file, stringify(config));
  return file;
}

/** One platform for all tests of the file, with this configuration file. */
export function usePlatform(config?: object): () => Running {
  const folder = useFolder();
  let running: Running | undefined;
  beforeAll(async () => {
    const args = config === undefined ? [] : ['--config', await writeConfig(folder.path, config)];
    running = await start(join(folder.path, 'data'), ...args);
  });
  afterAll(async () => {
    await running?.interrupt();
  });
  return () => {
    if (running === undefined) throw new Error('the platform did not start');
    return running;
  };
}
