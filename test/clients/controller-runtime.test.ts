import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../src/kube/index.ts';
import { CustomResourceDefinition, Event, type KubeObject, Lease, type ResourceType } from '../../src/meta/index.ts';
import { usePlatform } from '../e2e/support/platform.ts';
import { type GoProgram, goProgram, hasGo } from '../harness/go.ts';
import { type Widget, widget, widgetDefinition, widgetType } from './support/widgets.ts';

// A controller written in Go with controller-runtime, as a stranger would write it, at work on the embedded server.

type ConfigMap = KubeObject & { data?: Record<string, string> };
const ConfigMap: ResourceType<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

const running = usePlatform({ restSeconds: 0 });
const started: Painter[] = [];
let program: GoProgram;
let withGo: boolean;
let kubeconfig: string;
let client: Client;

beforeAll(async () => {
  const module = new URL('./go/', import.meta.url).pathname;
  program = await goProgram({ module, package: '.', name: 'painter', cache: 'clients' });
  withGo = await hasGo();
  if (withGo) await program.build();
  client = running().project();
  await client.create(CustomResourceDefinition, widgetDefinition);
  const config = new KubeConfig();
  config.loadFromFile(running().process.kubeconfig);
  config.setCurrentContext('project-alpha');
  kubeconfig = join(dirname(running().process.kubeconfig), 'painter.kubeconfig');
  await writeFile(kubeconfig, config.exportConfig(), { mode: 0o600 });
});
afterAll(async () => {
  await Promise.all(started.map((painter) => painter.end('SIGKILL')));
});

/** The controller as a process. */
class Painter {
  readonly name: string;
  readonly #child: ChildProcess;
  #output = '';

  constructor(name: string) {
    this.name = name;
    this.#child = spawn(program.file, ['--name', name], {
      env: { ...process.env, KUBECONFIG: kubeconfig },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString();
      });
    }
    started.push(this);
  }

  get output(): string {
    return this.#output;
  }

  get elected(): boolean {
    return this.#output.startsWith('elected') || this.#output.includes('\nelected');
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit');
      this.#child.kill(signal);
      await exited;
    }
    return this.#child.exitCode;
  }
}

const keyOf = (name: string) => ({ namespace: 'default', name });
const patience = { timeout: 60_000 };

/** Waits for what `read` finds to match; shows what the controllers said where it does not come. */
async function eventually(read: () => Promise<unknown>, expected: unknown): Promise<void> {
  try {
    await expect.poll(read, patience).toMatchObject(expected as object);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${started.map(({ output }) => output.slice(-1500)).join('\n---\n')}`);
  }
}

const reasons = async (name: string) =>
  (await client.list(Event, { namespace: 'default' })).items
    .filter(({ regarding }) => regarding?.name === name && regarding.kind === 'Widget')
    .map(({ reason, note }) => `${reason}: ${note}`);

describe('a controller of controller-runtime', () => {
  let first: Painter;
  let second: Painter;

  test('is elected by a Lease, and a second one waits', async (context) => {
    context.skip(!withGo, 'Go is not installed');
    first = new Painter('first');
    await expect.poll(() => first.elected || first.output, patience).toBe(true);
    second = new Painter('second');
    const lease = await client.get(Lease, keyOf('painter.clients.example.com'));
    expect(lease?.spec).toMatchObject({ leaseDurationSeconds: 3, leaseTransitions: 0 });
    await expect.poll(() => second.output, patience).toMatch(/attempting to acquire leader lease/i);
    expect(second.elected).toBe(false);
  });

  test('reconciles: an owned object, status, an Event, a finalizer', async (context) => {
    context.skip(!withGo, 'Go is not installed');
    const made = await client.create(widgetType, widget('gate', { color: 'blue' }, { namespace: 'default' }));
    await eventually(async () => (await client.get(widgetType, keyOf('gate')))?.status, {
      phase: 'Painted',
      conditions: [{ type: 'Ready', status: 'True', reason: 'Painted', message: 'blue', observedGeneration: 1 }],
    });
    expect((await client.get(widgetType, keyOf('gate')))?.metadata.finalizers).toEqual(['clients.example.com/paint']);
    const owner = { kind: 'Widget', name: 'gate', uid: made.metadata.uid, controller: true };
    const tin = await client.get(ConfigMap, keyOf('gate'));
    expect(tin).toMatchObject({ data: { color: 'blue', painter: 'first' }, metadata: { ownerReferences: [owner] } });
    await eventually(() => reasons('gate'), ['Painted: it is blue now']);
  });

  test('follows changes, and what is taken away from it', async (context) => {
    context.skip(!withGo, 'Go is not installed');
    await client.patch(widgetType, keyOf('gate'), { type: 'merge', body: { spec: { color: 'green' } } });
    const data = async () => (await client.get(ConfigMap, keyOf('gate')))?.data;
    await eventually(data, { color: 'green' });
    const uid = (await client.get(ConfigMap, keyOf('gate')))!.metadata.uid;
    await client.delete(ConfigMap, keyOf('gate'));
    await eventually(data, { color: 'green' });
    expect((await client.get(ConfigMap, keyOf('gate')))!.metadata.uid).not.toBe(uid);
  });

  test('works through a crowd: 100 at once', async (context) => {
    context.skip(!withGo, 'Go is not installed');
    const names = Array.from({ length: 100 }, (_, n) => `crowd-${n}`);
    await Promise.all(
      names.map((name) => client.create(widgetType, widget(name, { color: 'red' }, { namespace: 'default' }))),
    );
    const painted = async () => {
      const { items } = await client.list<Widget>(widgetType, { namespace: 'default' });
      return {
        count: items.filter(({ metadata, status }) => metadata.name.startsWith('crowd-') && status?.phase === 'Painted')
          .length,
      };
    };
    await eventually(painted, { count: 100 });
    await Promise.all(names.map((name) => client.delete(widgetType, keyOf(name))));
    await eventually(async () => ({ left: (await client.list(widgetType, { namespace: 'default' })).items.length }), {
      left: 1,
    });
  });

  test('is killed: the other one takes over and goes on', async (context) => {
    context.skip(!withGo, 'Go is not installed');
    await first.end('SIGKILL');
    await client.create(widgetType, widget('door', { color: 'red' }, { namespace: 'default' }));
    await eventually(async () => (await client.get(ConfigMap, keyOf('door')))?.data, {
      color: 'red',
      painter: 'second',
    });
    expect((await client.get(Lease, keyOf('painter.clients.example.com')))?.spec).toMatchObject({
      leaseTransitions: 1,
    });
  });

  test('takes leave of what is deleted, and its dependents go', async (context) => {
    context.skip(!withGo, 'Go is not installed');
    await client.delete(widgetType, keyOf('gate'));
    const left = async () => ({
      left: [await client.get(widgetType, keyOf('gate')), await client.get(ConfigMap, keyOf('gate'))].filter(Boolean)
        .length,
    });
    await eventually(left, { left: 0 });
    await expect.poll(() => reasons('gate'), patience).toContain('Stripped: the paint of gate is off');
  });

  test('ends cleanly, and gives its Lease back', async (context) => {
    context.skip(!withGo, 'Go is not installed');
    expect(await second.end('SIGTERM')).toBe(0);
    expect((await client.get(Lease, keyOf('painter.clients.example.com')))?.spec?.holderIdentity ?? '').toBe('');
  });
});
