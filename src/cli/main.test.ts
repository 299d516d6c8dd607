import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { main } from './main.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the command in this process: what it ends with, and what it says on standard error. */
async function run(...args: string[]): Promise<{ code: number; said: string }> {
  let said = '';
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  try {
    return { code: await main(args), said };
  } finally {
    write.mockRestore();
  }
}

test.each([
  ['an unknown field', 'quietPeriodSecs: 1\n', 'quietPeriodSecs is not a field; known here: quietPeriodSeconds, '],
  [
    'an unknown field further in',
    'ipam: {classes: {networkIpv6: x}}\n',
    'ipam.classes.networkIpv6 is not a field; known here: networkIPv6, ',
  ],
  ['a wrong type', 'restSeconds: soon\n', 'restSeconds must be integer'],
  ['a value out of range', 'restSeconds: -1\n', 'restSeconds must be >= 0'],
  ['a value that is none of them', 'dataPlane: ebpf\n', 'dataPlane must be one of: fabric, external, none'],
  ['an unknown gate', 'featureGates: {Teleport: true}\n', 'featureGates.Teleport is not a feature gate'],
  ['a list', '- 1\n', 'the configuration must be a mapping of fields'],
  ['no YAML', 'a: [\n', ' is not YAML: '],
  ['an alias of nothing', 'restSeconds: *rest\n', ' is not YAML: Unresolved alias'],
  ['two documents', 'restSeconds: 1\n---\nrestSeconds: 2\n', ' is not YAML: '],
  ['a lease that is too short', 'leases: {retentionSeconds: 10}\n', 'leases.retentionSeconds must be >= 60'],
  ['nothing where something must be', 'auditSeconds: null\n', 'auditSeconds must be integer'],
  ['a text for a number', 'orphanSeconds: "60"\n', 'orphanSeconds must be integer'],
  ['a class without a name', 'ipam: {classes: {subnetIPv4: ""}}\n', 'ipam.classes.subnetIPv4 must not have fewer'],
  ['a gate that is no boolean', 'featureGates: {ReferencedData: 1}\n', 'featureGates.ReferencedData must be boolean'],
])('a configuration file with %s: exit code 2, one sentence', async (_, text, sentence) => {
  const file = join(folder, 'config.yaml');
  await writeFile(file, text);
  const { code, said } = await run('up', '--data-dir', join(folder, 'none'), '--config', file);
  expect(said).toContain(sentence);
  expect(said).toMatch(/^berth: [^\n]*\n$/);
  expect(code).toBe(2);
  expect(existsSync(join(folder, 'none'))).toBe(false);
});

test.each([
  [['--feature-gates', 'Teleport=true'], 'feature gate "Teleport" is unknown; known are: NetworkingIntegration'],
  [['--feature-gates', 'NetworkingIntegration=maybe'], 'NetworkingIntegration must be true or false, not "maybe"'],
  [['--cells', 'Us_East'], 'cell "Us_East" must be lower-case letters, digits and "-"'],
  [['--projects', 'a/b'], 'project "a/b" must be lower-case letters, digits and "-"'],
  [['--port', '70000'], 'It must be a number from 0 to 65535; 0 takes a free one.'],
  [['--port', '1e3'], 'It must be a number from 0 to 65535; 0 takes a free one.'],
  [['--log-level', 'loud'], 'Allowed choices are debug, info, warn, error, silent.'],
  [['--config', '/nowhere/config.yaml'], 'configuration file /nowhere/config.yaml cannot be read'],
  [['--colour'], "unknown option '--colour'"],
])('berth up %j is refused: exit code 2, and what would be right', async (args, sentence) => {
  const { code, said } = await run('up', '--data-dir', join(folder, 'none'), ...args);
  expect(said).toContain(sentence);
  expect(said).toMatch(/^berth: /);
  expect(code).toBe(2);
  expect(existsSync(join(folder, 'none'))).toBe(false);
});

test('an unknown command is refused: exit code 2', async () => {
  const { code, said } = await run('go');
  expect(said).toContain("berth: unknown command 'go'");
  expect(code).toBe(2);
});
