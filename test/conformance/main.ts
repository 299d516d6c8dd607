/**
 * `npm run conformance [-- --only TEXT] [--all]`: the same requests to the embedded server and to a real kube-apiserver
 * on etcd, and their answers compared field by field. `--only` runs the scenarios whose title contains the text, `--all`
 * prints explained differences too, `--width` is how much of a value is printed. Ends with `N pairs, N equal, N explained, N different`; fails where any differ.
 */
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/kube/index.ts';
import { explain } from './explained.ts';
import { compare, type Difference } from './harness/compare.ts';
import { normalize } from './harness/normalize.ts';
import { type Scenario, scenarios } from './harness/scenario.ts';
import { type Entry, Session } from './harness/session.ts';
import './scenarios/index.ts';
import { findBinaries } from './servers/binaries.ts';
import { startEmbedded } from './servers/embedded.ts';
import { startKubernetes } from './servers/kubernetes.ts';
import type { Target } from './servers/target.ts';

const { values } = parseArgs({
  options: { only: { type: 'string' }, all: { type: 'boolean' }, width: { type: 'string' } },
});
const counts = { pairs: 0, equal: 0, explained: 0, different: 0 };
const used = new Map<string, number>();
const absent: Entry = { title: 'no request', answer: { status: 0, headers: {}, body: undefined }, view: undefined };

const binaries = await findBinaries();
if ('missing' in binaries) {
  console.log(`skipped: ${binaries.missing}`);
  console.log(`${scenarios().length} scenarios skipped`);
  report();
} else {
  const started = systemClock.monotonic();
  const kubernetes = await startKubernetes(binaries);
  const berth = await startEmbedded();
  console.log(`kube-apiserver and etcd of ${binaries.origin}: ready in ${seconds(started)}`);
  try {
    const wanted = scenarios().filter((each) => each.setup || each.title.includes(values.only ?? ''));
    for (const each of wanted) if (!each.controllers) await judge(each, kubernetes, berth);
    const controlled = wanted.filter(({ controllers }) => controllers);
    if (controlled.length > 0 && (await kubernetes.startControllers()) && (await berth.startControllers())) {
      for (const each of controlled) await judge(each, kubernetes, berth);
    } else if (controlled.length > 0) {
      console.log(`${controlled.length} scenarios skipped: there is no kube-controller-manager in KUBEBUILDER_ASSETS`);
    }
  } finally {
    await berth.stop();
    await kubernetes.stop();
  }
  for (const [id, count] of [...used].sort()) console.log(`explained: ${id} (${count})`);
  console.log(`took ${seconds(started)}`);
  report();
}

function seconds(since: number): string {
  return `${((systemClock.monotonic() - since) / 1000).toFixed(1)} s`;
}

async function judge(one: Scenario, kubernetes: Target, berth: Target): Promise<void> {
  const [left, right] = await Promise.all([transcript(one, kubernetes), transcript(one, berth)]);
  console.log(`${one.title}: ${left.length} pairs`);
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    judgePair(one, left[index] ?? absent, right[index] ?? absent);
  }
}

async function transcript(one: Scenario, target: Target): Promise<Entry[]> {
  const session = new Session(target);
  try {
    await one.run(session);
  } catch (error) {
    const body = error instanceof Error ? error.stack : String(error);
    session.entries.push({ title: `broke off at ${target.name}`, answer: { ...absent.answer, body }, view: undefined });
  } finally {
    session.close();
  }
  return normalize(session.entries);
}

function judgePair(one: Scenario, kubernetes: Entry, berth: Entry): void {
  counts.pairs++;
  const where = {
    scenario: one.title,
    request: kubernetes.title,
    kubernetes: kubernetes.answer,
    berth: berth.answer,
  };
  const found = compare(kubernetes, berth).map((difference) => ({ difference, rule: explain(difference, where) }));
  for (const id of new Set(found.map(({ rule }) => rule?.id))) {
    if (id !== undefined) used.set(id, (used.get(id) ?? 0) + 1);
  }
  if (found.length === 0) counts.equal++;
  else if (found.every(({ rule }) => rule !== undefined)) counts.explained++;
  else counts.different++;
  const shown = found.filter(({ rule }) => rule === undefined || values.all === true);
  if (shown.length === 0) return;
  console.log(`  ${kubernetes.title}`);
  for (const { difference, rule } of shown) print(difference, rule?.id);
}

function print({ path, kubernetes, berth }: Difference, id: string | undefined): void {
  console.log(`    ${path}${id === undefined ? '' : `  [${id}]`}`);
  console.log(`      kubernetes: ${brief(kubernetes)}`);
  console.log(`      berth:      ${brief(berth)}`);
}

function brief(value: unknown): string {
  const text = value === undefined ? 'not there' : JSON.stringify(value);
  const most = Number(values.width ?? 700);
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

function report(): void {
  const { pairs, equal, explained, different } = counts;
  console.log(`${pairs} pairs, ${equal} equal, ${explained} explained, ${different} different`);
  process.exitCode = different === 0 ? 0 : 1;
}
