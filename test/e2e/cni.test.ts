import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { configurationList } from '../cni/schema.ts';

/** The conflists on file, byte for byte what the fabric renders, as others read them. */

const run = promisify(execFile);
const golden = new URL('../../src/fabric/cell/conflist/golden/', import.meta.url).pathname;
const goModule = new URL('../cni/', import.meta.url).pathname;

const files: string[] = [];
for (const folder of ['plain', 'egress']) {
  for (const file of await readdir(join(golden, folder))) files.push(join(golden, folder, file));
}

const isList = new Ajv({ strict: false }).compile(configurationList);

test('there are the cases of the matrix', () => {
  expect(files).toHaveLength(12 + 24);
});

test.each(files.map((file) => [file.slice(golden.length), file]))('%s is a CNI configuration list', async (_, file) => {
  const list: unknown = JSON.parse(await readFile(file, 'utf8'));
  isList(list);
  expect(isList.errors).toBeNull();
});

test.each([
  ['no name', { cniVersion: '1.0.0', plugins: [{ type: 'a' }] }],
  ['no plugin', { cniVersion: '1.0.0', name: 'a', plugins: [] }],
  ['a plugin without type', { cniVersion: '1.0.0', name: 'a', plugins: [{ mtu: 1 }] }],
  ['a key of a plugin at the top', { cniVersion: '1.0.0', name: 'a', plugins: [{ type: 'a' }], mtu: 1 }],
  ['ipam without type', { cniVersion: '1.0.0', name: 'a', plugins: [{ type: 'a', ipam: {} }] }],
])('a list with %s is none', (_, list) => {
  expect(isList(list)).toBe(false);
});

test('libcni reads every one of them', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-cni-'));
  try {
    const binary = join(folder, 'conflists');
    const missing = await build(binary);
    if (missing !== undefined) return context.skip(missing);
    const { stdout } = await run(binary, files);
    const read = JSON.parse(stdout) as { name: string; cniVersion: string; plugins: string[] }[];
    expect(read).toHaveLength(files.length);
    for (const [index, list] of read.entries()) {
      const master = files[index]?.includes('/netns-') ? 'galactic-veth' : 'galactic-tap';
      expect(list).toEqual({ name: 'web-0-eth0', cniVersion: '1.0.0', plugins: [master, 'galactic-bgp'] });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** Builds the reader of lists. Answers why it can not be built on this machine, where that is so. */
async function build(binary: string): Promise<string | undefined> {
  const options = {
    cwd: goModule,
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
  };
  try {
    await run('go', ['version']);
  } catch {
    return 'libcni is Go: it needs Go installed (https://go.dev/dl)';
  }
  try {
    await run('go', ['mod', 'download'], options);
  } catch (error) {
    return `libcni is not on this machine, and can not be had: ${String((error as { stderr?: string }).stderr)}`;
  }
  await run('go', ['build', '-o', binary, '.'], options);
  return undefined;
}
