#!/usr/bin/env node
// Plain JavaScript on purpose: it must be able to speak on a Node that cannot run the rest.
// Not by name: a Node that lacks it would refuse the import before anything can be said.
import * as nodeModule from 'node:module';
import { setFlagsFromString } from 'node:v8';

const needed = 26;
const found = Number.parseInt(process.versions.node, 10);
if (found < needed) {
  process.stderr.write(
    `berth needs Node ${needed} and found ${process.versions.node}: run it through npm (npm start, npm run …), which uses the one "npm ci" installed, or install Node ${needed}\n`,
  );
  process.exit(2);
}
// Objects are collected once they have grown by 40 %, not when they have doubled or more: a platform of 1,000 instances takes
// 55 MiB less, for a tenth more of processor time (bench instances).
setFlagsFromString('--heap-growing-percent=40');
const { directory } = nodeModule.enableCompileCache();
// Threads look here only: without it each strips the types of its modules again, with 10 to 20 MiB of compiler.
if (directory !== undefined) process.env.NODE_COMPILE_CACHE = directory;
const { main } = await import('./main.ts');
const code = await main(process.argv.slice(2));
process.exitCode = code;
// What failed may have left something at work: whoever started this is waiting for its end.
if (code !== 0) process.exit();
