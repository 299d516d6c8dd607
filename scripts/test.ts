/**
 * `npm test`: type check, lint, import boundaries, generated files, then unit tests, those of all planes together, and end-to-end tests. Every step runs, so
 * that one run shows everything that is wrong. With a suite's name it runs that suite alone. Ends with
 * `N passed, N failed, N skipped`.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

function run(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : 1));
  });
}

/** One check counts as one test. */
async function check(title: string, command: string, args: readonly string[]): Promise<Counts> {
  console.log(`\n── ${title}`);
  const code = await run(command, args);
  return code === 0 ? { passed: 1, failed: 0, skipped: 0 } : { passed: 0, failed: 1, skipped: 0 };
}

async function suite(title: string, ...projects: string[]): Promise<Counts> {
  console.log(`\n── ${title}`);
  const folder = await mkdtemp(join(tmpdir(), 'berth-test-'));
  const report = join(folder, 'report.json');
  try {
    const code = await run('vitest', [
      'run',
      ...projects.map((project) => `--project=${project}`),
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ]);
    const result = JSON.parse(await readFile(report, 'utf8')) as {
      numPassedTests: number;
      numFailedTests: number;
      numPendingTests: number;
      numTodoTests: number;
    };
    // A file that cannot be loaded fails the run without failing a test: it must not be counted as green.
    const failed = code === 0 ? result.numFailedTests : Math.max(1, result.numFailedTests);
    return { passed: result.numPassedTests, failed, skipped: result.numPendingTests + result.numTodoTests };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const everything: (() => Promise<Counts>)[] = [
  () => check('types', 'tsc', ['--noEmit']),
  () => check('lint', 'biome', ['check', '--error-on-warnings', '.']),
  () =>
    check('import boundaries', 'depcruise', ['--config', '.dependency-cruiser.mjs', 'src', 'bench', 'test', 'scripts']),
  () => check('generated files', 'node', ['scripts/generate.ts', '--check']),
  () => suite('unit tests, and planes in virtual time', 'unit', 'planes'),
  () => suite('end-to-end tests', 'e2e'),
];

const [only] = process.argv.slice(2);
const steps = only === undefined ? everything : [() => suite(`${only} tests`, only)];

const total: Counts = { passed: 0, failed: 0, skipped: 0 };
for (const step of steps) {
  const counts = await step();
  total.passed += counts.passed;
  total.failed += counts.failed;
  total.skipped += counts.skipped;
}
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
