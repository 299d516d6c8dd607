import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/kube/index.ts';
import { jsonEqual } from '../../src/meta/index.ts';
import { configFields } from '../../src/platform/index.ts';
import { type Block, blocksOf, blockText, type Step } from './docs/blocks.ts';
import { Reading } from './docs/reading.ts';
import { Terminal } from './docs/terminal.ts';
import { kubectlTest } from './support/kubectl.ts';
import { useFolder } from './support/platform.ts';

// Every command of the README and the guides is typed, and what it prints is compared with what the page shows.
// UPDATE_DOCS=1 writes what was printed into the pages instead.

const update = process.env.UPDATE_DOCS === '1';
const root = new URL('../..', import.meta.url).pathname;
const folder = useFolder();

/** How long an output that is to become the shown one is waited for. */
const patienceMs = 30_000;
/** When outputs are written: how long one has to stay the same. */
const settledMs = 3_000;

function markdownIn(path: string): string[] {
  return readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(path, name))
    .sort();
}

const guides = markdownIn('docs/guides');

/** Types the commands of one page, and compares or collects what they print. */
class Reader {
  readonly #terminal: Terminal;
  readonly #shown = new Reading();
  readonly #seen = new Reading();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** The steps of the block with what they print now. */
  async follow(block: Block): Promise<Step[]> {
    let seen = await this.#typeAll(block.steps);
    if (block.until) seen = await this.#patiently(block.steps, seen);
    return block.steps.map((step, index) => ({ ...step, output: this.#compared(step.output, seen[index] ?? '') }));
  }

  /** What is shown, where what is seen says the same; or else what is seen. */
  #compared(shown: string, printed: string): string {
    const seen = elided(printed, shown);
    const expected = this.#shown.read(shown).split('\n');
    const found = this.#seen.read(seen).split('\n');
    if (update) return jsonEqual(expected, found) ? shown : seen;
    const lines = shown.split('\n');
    return seen
      .split('\n')
      .map((line, index) => (found[index] === expected[index] ? (lines[index] ?? line) : line))
      .join('\n');
  }

  async #typeAll(steps: readonly Step[]): Promise<string[]> {
    const outputs: string[] = [];
    for (const { command } of steps) outputs.push(await this.#terminal.type(command));
    return outputs;
  }

  async #patiently(steps: readonly Step[], first: string[]): Promise<string[]> {
    const started = systemClock.now();
    let since = started;
    let seen = first;
    for (;;) {
      const asShown = steps.every(({ output }, index) => this.#alike(output, seen[index] ?? ''));
      const now = systemClock.now();
      if (asShown || now - started > patienceMs || (update && now - since > settledMs)) return seen;
      await systemClock.sleep(300);
      const next = await this.#typeAll(steps);
      if (!next.every((output, index) => this.#alike(output, seen[index] ?? ''))) since = systemClock.now();
      seen = next;
    }
  }

  /** As far as one output on its own tells; whether its addresses are those of the outputs before is seen in the end. */
  #alike(one: string, other: string): boolean {
    return new Reading().read(one) === new Reading().read(elided(other, one));
  }
}

/** Where the page leaves lines out with a line `…`, they are left out of what was printed. */
function elided(printed: string, shown: string): string {
  const lines = shown.split('\n');
  const gap = lines.indexOf('…');
  if (gap === -1) return printed;
  const all = printed.split('\n');
  return [...all.slice(0, gap), '…', ...all.slice(Math.max(gap, all.length - (lines.length - gap - 1)))].join('\n');
}

// A platform each; much of a page is waiting, so that two of them are read at once.
describe.concurrent.each(['README.md', ...guides])('%s', (page) => {
  kubectlTest('does what it says', async () => {
    const text = await readFile(join(root, page), 'utf8');
    const blocks = blocksOf(text);
    if (blocks.length === 0) return;
    const terminal = await Terminal.open(join(folder.path, page.replaceAll('/', '-')));
    try {
      if (blocks[0]?.steps[0]?.command.startsWith('npm start') !== true) await terminal.type('npm start');
      const reader = new Reader(terminal);
      let written = '';
      let at = 0;
      for (const block of blocks) {
        const steps = await reader.follow(block);
        if (!update) expect(blockText(steps), `what is printed, and what ${page} shows`).toBe(blockText(block.steps));
        written += text.slice(at, block.start) + blockText(steps);
        at = block.end;
      }
      written += text.slice(at);
      if (update && written !== text) await writeFile(join(root, page), written);
    } finally {
      await terminal.close();
    }
  });
});

test('the table of the configuration file is the one of the program', async () => {
  const page = join(root, 'docs/guides/get-started.md');
  const text = await readFile(page, 'utf8');
  const rows = configFields().map(
    (row) => `| \`${row.field}\` | ${row.default === '' ? '' : `\`${row.default}\``} | ${row.description} |`,
  );
  const table = ['| Field | Default | What it is |', '| --- | --- | --- |', ...rows].join('\n');
  const current = text.replace(/(?<=<!-- config:start -->\n)[\s\S]*(?=<!-- config:end -->)/, () => `${table}\n`);
  expect(current).toContain(table);
  if (update) await writeFile(page, current);
  else expect(text).toBe(current);
});

const pages = ['README.md', ...markdownIn('docs')];

test('every link leads to a file', () => {
  const written = pages.filter((page) => !page.startsWith('docs/reference/'));
  const broken = written.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map((match) => match[1] ?? '')
      .filter((link) => !existsSync(join(root, dirname(page), link)))
      .map((link) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test.each([
  ['docs/README.md', (page: string) => !/^docs\/(reference|decisions)\/(?!README)/.test(page)],
  ['docs/decisions/README.md', (page: string) => page.startsWith('docs/decisions/')],
])('%s lists every page', (index, listed) => {
  const links = [...readFileSync(join(root, index), 'utf8').matchAll(/\]\(([^)#\s]+)/g)].map((match) =>
    normalize(join(dirname(index), match[1] ?? '')),
  );
  const missing = pages.filter((page) => page.startsWith('docs/') && page !== index && listed(page));
  expect(missing.filter((page) => !links.includes(page))).toEqual([]);
});
