import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient, kubeconfigTransport, systemClock } from '../kube/index.ts';
import { apiVersionOf, ConfigMap } from '../meta/index.ts';

/** A platform whose disk is full, or whose folder is not as it should be: one sentence, and the process ends. */

const command = new URL('./berth.mjs', import.meta.url).pathname;
let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-failing-'));
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** `berth up` where no file grows beyond so many KiB, as on a full disk. */
function up(kibibytes: number | 'unlimited', ...args: string[]) {
  const limited = `trap '' XFSZ; ulimit -f ${kibibytes}; exec "$0" "$@"`;
  const data = ['--data-dir', join(folder, 'data'), '--port', '0'];
  const child = spawn('bash', ['-c', limited, process.execPath, command, 'up', ...data, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream!.on('data', (chunk: Buffer) => (said += chunk));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, ended, said: () => said, complaints: () => said.split('\n').filter((line) => /^berth: /.test(line)) };
}

/** SQLite calls a full disk full, and a limit on the size of a file an error of it. */
const full = (file: string) =>
  expect.stringMatching(
    `^berth: ${file} cannot be read or written \\((database or disk is full|disk I/O error)\\): check the disk and the free space on it$`,
  );

test('a disk that is full at the start is told at once, and ends it; with room it starts, and is whole', async () => {
  const { ended, complaints } = up(1500, '--log-level', 'silent');
  expect(await ended).toBe(1);
  expect(complaints()).toEqual([full(join(folder, 'data/berth.db'))]);
  const again = up('unlimited');
  while (!again.said().includes('Ctrl-C')) await systemClock.sleep(20);
  again.child.kill('SIGTERM');
  expect(await again.ended).toBe(0);
}, 120_000);

test('a disk that fills up while it runs ends it with that sentence, and what was acknowledged is there', async () => {
  const running = up(8000, '--log-level', 'silent');
  while (!running.said().includes('Ctrl-C')) await systemClock.sleep(20);
  const connect = () => {
    const transport = kubeconfigTransport(join(folder, 'data/kubeconfig'), 'project-alpha');
    return { transport, client: createClient({ transport, basePath: '' }) };
  };
  const { transport, client } = connect();
  const acknowledged: string[] = [];
  const filling = (async () => {
    for (let n = 0; ; n++) {
      const metadata = { name: `filler-${n}`, namespace: 'default' };
      const data = { filler: 'x'.repeat(500_000) };
      await client.create(ConfigMap, { apiVersion: apiVersionOf(ConfigMap), kind: 'ConfigMap', metadata, data });
      acknowledged.push(metadata.name);
    }
  })().catch(() => {});
  expect(await running.ended).toBe(1);
  await filling;
  await transport.close();
  expect(running.complaints()).toEqual([full(join(folder, 'data/berth.db'))]);
  expect(acknowledged.length).toBeGreaterThan(0);
  const again = up('unlimited');
  while (!again.said().includes('Ctrl-C')) await systemClock.sleep(20);
  const later = connect();
  const there = (await later.client.list(ConfigMap, { namespace: 'default' })).items.map((each) => each.metadata.name);
  expect(acknowledged.filter((name) => !there.includes(name))).toEqual([]);
  await later.transport.close();
  again.child.kill('SIGTERM');
  expect(await again.ended).toBe(0);
}, 180_000);

test.each([
  ['a file in place of the folder', () => writeFileSync(join(folder, 'data'), ''), 'the data folder .* cannot be made'],
  [
    'a folder in place of the kubeconfig',
    () => mkdirSync(join(folder, 'data/kubeconfig'), { recursive: true }),
    '/kubeconfig cannot be written',
  ],
  [
    'a file in place of its secrets',
    () => {
      mkdirSync(join(folder, 'data'));
      writeFileSync(join(folder, 'data/secrets'), '');
    },
    'certificates and tokens of .*/data cannot be used',
  ],
])(
  '%s ends the start with one sentence',
  async (_, wrong, sentence) => {
    wrong();
    const { ended, complaints } = up('unlimited', '--log-level', 'silent');
    expect(await ended).toBe(1);
    expect(complaints()).toEqual([expect.stringMatching(new RegExp(`^berth: .*${sentence}`))]);
  },
  120_000,
);

test('a second signal ends it at once, where stopping takes long', async () => {
  const { child, said, ended } = up('unlimited');
  while (!said().includes('Ctrl-C')) await systemClock.sleep(20);
  child.kill('SIGTERM');
  child.kill('SIGINT');
  // Where it has stopped before the second was heard, it has stopped.
  expect([0, 130, 143]).toContain(await ended);
}, 120_000);
