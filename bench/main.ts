/** `npm run -s bench -- NAME [--option value …] [--json]`. */
import { parseArgs } from 'node:util';
import { apiserver } from './apiserver.ts';
import { claims } from './claims.ts';
import { fabric } from './fabric.ts';
import { type Benchmark, jsonLine, table } from './harness/report.ts';
import { instances } from './instances.ts';
import { ipam } from './ipam.ts';
import { planes } from './planes.ts';
import { workloads } from './workloads.ts';

const benchmarks: readonly Benchmark[] = [apiserver, workloads, instances, claims, ipam, fabric, planes];

function usage(): string {
  const rows = benchmarks.map(({ name, description, options }) => {
    const flags = Object.entries(options).map(([option, value]) => `--${option} ${value}`);
    return `  ${[name, ...flags].join(' ')}\n      ${description}`;
  });
  return `npm run -s bench -- NAME [options] [--json]\n\n${rows.join('\n')}\n`;
}

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  const benchmark = benchmarks.find((each) => each.name === name);
  if (benchmark === undefined) {
    process.stderr.write(usage());
    return 2;
  }
  const flags = Object.fromEntries(
    Object.keys(benchmark.options).map((option) => [option, { type: 'string' as const }]),
  );
  const { values } = parseArgs({ args: rest, options: { ...flags, json: { type: 'boolean' as const } } });
  const options = Object.fromEntries(
    Object.entries(benchmark.options).map(([option, value]) => {
      const given = (values as Record<string, string | boolean | undefined>)[option];
      return [option, given === undefined ? value : Number(given)];
    }),
  );
  const wrong = Object.entries(options).find(([, value]) => !Number.isSafeInteger(value) || value < 1);
  if (wrong !== undefined) {
    process.stderr.write(`bench: --${wrong[0]} must be a whole number of at least 1\n`);
    return 2;
  }
  const figures = await benchmark.run(options, (text) => process.stderr.write(`${text}\n`));
  process.stdout.write(`${table(benchmark.name, figures)}`);
  if (values.json === true) process.stdout.write(`${jsonLine(benchmark.name, figures)}\n`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
