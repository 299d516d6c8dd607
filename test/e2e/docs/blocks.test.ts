import { expect, test } from 'vitest';
import { blocksOf, blockText } from './blocks.ts';

const page = [
  'Text.',
  '',
  '```sh',
  'not run',
  '```',
  '',
  '<!-- until -->',
  '```console',
  '$ kubectl get \\',
  '    instances',
  'NAME',
  "$ kubectl patch -p '[",
  "    1]'",
  '$ kubectl apply -f - <<EOF',
  'kind: Network',
  'EOF',
  'created',
  '',
  'twice',
  '^C',
  'Stopped.',
  '```',
  '',
].join('\n');

test('commands, here-documents, continued lines and ^C are told from output', () => {
  const [block, ...others] = blocksOf(page);
  expect(others).toEqual([]);
  expect(block?.until).toBe(true);
  expect(block?.steps).toEqual([
    { command: 'kubectl get \\\n    instances', output: 'NAME' },
    { command: "kubectl patch -p '[\n    1]'", output: '' },
    { command: 'kubectl apply -f - <<EOF\nkind: Network\nEOF', output: 'created\n\ntwice' },
    { command: '^C', output: 'Stopped.' },
  ]);
});

test('a block written again is the block', () => {
  const [block] = blocksOf(page);
  expect(page.slice(block?.start, block?.end)).toBe(blockText(block?.steps ?? []));
});

test('a block that begins with output is refused', () => {
  expect(() => blocksOf('```console\nNAME\n```\n')).toThrow('begins with "NAME", which is no command');
});
