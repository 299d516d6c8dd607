import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { allKinds, type JsonSchema, reasonGroups, reasonInfo } from '../src/api/index.ts';
import { exampleOf } from './generate/examples.ts';
import { generatedFiles } from './generate/files.ts';

const root = join(import.meta.dirname, '..');
const files = generatedFiles();

describe('generated files', () => {
  it('are those in the repository: else run npm run generate', async () => {
    for (const [path, content] of files) expect(await readFile(join(root, path), 'utf8'), path).toBe(content);
  });

  it('are the same bytes each time', () => {
    expect([...generatedFiles()]).toEqual([...files]);
  });

  it('hold one manifest for each kind served by a CRD, as YAML that says the same', () => {
    const manifests = [...files].filter(([path]) => path.startsWith('deploy/crds/'));
    expect(manifests).toHaveLength(allKinds.filter(({ servedBy }) => servedBy === 'crd').length);
    for (const [path, content] of manifests) {
      const manifest = parse(content);
      expect(path).toBe(`deploy/crds/${manifest.metadata.name}.yaml`);
      const kind = allKinds.find((each) => each.kind === manifest.spec.names.kind);
      expect(manifest.spec.versions[0].schema.openAPIV3Schema).toEqual(kind?.schema);
    }
  });

  it('have a heading for each reason a message can point at', () => {
    const headings = new Set(
      [...files.get('docs/reasons.md')!.matchAll(/^### (.+)$/gm)].map(
        ([, title]) => `reasons.md#${title!.toLowerCase()}`,
      ),
    );
    for (const code of reasonGroups.flatMap((group) => group.codes))
      expect(headings).toContain(reasonInfo(code).anchor);
  });
});

describe('examples', () => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  it.each(allKinds.map((kind) => [kind.kind, kind] as const))('of %s is what its schema allows', (_, kind) => {
    const validate = ajv.compile(closed(kind.schema));
    expect(validate(exampleOf(kind)), JSON.stringify(validate.errors)).toBe(true);
  });
});

describe('generate', () => {
  const run = promisify(execFile);
  const script = join(root, 'scripts/generate.ts');
  const generate = (...args: string[]) =>
    run(process.execPath, [script, ...args]).then(
      ({ stdout }) => ({ code: 0, said: stdout }),
      (error) => ({ code: error.code as number, said: error.stderr as string }),
    );

  it('writes what is missing and removes what is left over, and with --check only says so', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'generate-'));
    try {
      expect(await generate('--check', '--root', folder)).toMatchObject({
        code: 1,
        said: expect.stringContaining('stale: docs/reasons.md\n'),
      });
      expect((await generate('--root', folder)).code).toBe(0);
      expect(await generate('--check', '--root', folder)).toEqual({ code: 0, said: '' });

      await writeFile(join(folder, 'docs/reference/old.md'), '');
      expect(await generate('--check', '--root', folder)).toMatchObject({
        code: 1,
        said: 'left over: docs/reference/old.md\nRun: npm run generate\n',
      });
      expect(await generate('--root', folder)).toEqual({ code: 0, said: 'removed docs/reference/old.md\n' });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('refuses arguments it does not know', async () => {
    expect(await generate('--chek')).toMatchObject({ code: 2, said: expect.stringContaining('--chek') });
  });
});

/** The schema with unknown fields refused, as strict field validation does; metadata is left to the server. */
function closed(schema: JsonSchema): JsonSchema {
  const { metadata: _, ...properties } = schema.properties as Record<string, JsonSchema>;
  return { ...schema, additionalProperties: false, properties: { ...mapValues(properties, close), metadata: true } };
}

function close(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(close);
  const copy = mapValues(schema as JsonSchema, close);
  return 'properties' in copy ? { ...copy, additionalProperties: false } : copy;
}

function mapValues(object: JsonSchema, change: (value: unknown) => unknown): JsonSchema {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
