import { startApi } from './api.ts';

/** The server of `api.ts` as a process of its own, to be killed: `node api.fixture.ts FOLDER`; prints where it is. */

const [folder] = process.argv.slice(2) as [string];
const { port, ca } = await startApi({ folder, historyRevisions: 10_000_000 });
process.stdout.write(`${JSON.stringify({ port, ca })}\n`);
