import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const root = new URL('..', import.meta.url).pathname;
const folders: string[] = [];

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** Runs the checker over a small tree that has the given files. */
async function cruise(files: Record<string, string>): Promise<{ code: number; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-boundaries-'));
  folders.push(folder);
  await cp(join(root, '.dependency-cruiser.mjs'), join(folder, '.dependency-cruiser.mjs'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(join(folder, file, '..'), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  const command = join(root, 'node_modules/.bin/depcruise');
  try {
    const { stdout } = await promisify(execFile)(command, ['--config', '.dependency-cruiser.mjs', 'src'], {
      cwd: folder,
    });
    return { code: 0, output: stdout };
  } catch (error) {
    const failure = error as { code: number; stdout: string };
    return { code: failure.code, output: failure.stdout };
  }
}

const plain = { 'src/meta/index.ts': 'export const one: number = 1;\n' };

test('a room that imports a room above it is accepted, and the modules are seen', async () => {
  const { code, output } = await cruise({
    ...plain,
    'src/kube/index.ts': "import { one } from '../meta/index.ts';\nexport const two = one + 1;\n",
  });
  expect(output).toContain('2 modules, 1 dependencies');
  expect(code).toBe(0);
});

test.each([
  ['a lower room', 'src/meta/object.ts', '../kube/index.ts', 'meta-imports-only-rooms-above'],
  ['past an index', 'src/network/claim.ts', '../kube/deep.ts', 'kube-is-entered-through-its-index'],
  ['a sibling service', 'src/network/claim.ts', '../ipam/index.ts', 'network-meets-its-siblings-through-the-api'],
  ['another plane of the same room', 'src/network/cell/a.ts', '../hub/b.ts', 'network-cell-imports-no-other-plane'],
  [
    'what is for tests, from product code',
    'src/network/claim.ts',
    '../kube/testing/index.ts',
    'product-imports-nothing-of-tests',
  ],
  ['kinds, from a room that knows none', 'src/kube/client.ts', '../api/index.ts', 'kube-knows-no-kinds'],
])('importing %s is refused', async (_title, file, target, rule) => {
  const { code, output } = await cruise({
    ...plain,
    [file]: `import { value } from '${target}';\nexport const copy = value;\n`,
    [join(file, '..', target)]: 'export const value: number = 1;\n',
  });
  expect(output).toContain(rule);
  expect(code).toBeGreaterThan(0);
});

test('a test may import what another room offers to tests', async () => {
  const { code } = await cruise({
    'src/kube/testing/index.ts': 'export const two = 2;\n',
    'src/network/claim.test.ts': "export { two } from '../kube/testing/index.ts';\n",
    'src/network/testing.ts': "export { two } from '../kube/testing/index.ts';\n",
  });
  expect(code).toBe(0);
});

test('a type-only import counts as an import', async () => {
  const { code } = await cruise({
    'src/meta/index.ts': "import type { Two } from '../kube/index.ts';\nexport type One = Two;\n",
    'src/kube/index.ts': 'export type Two = 2;\n',
  });
  expect(code).toBeGreaterThan(0);
});
