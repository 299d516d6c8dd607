import { configDefaults, defineConfig } from 'vitest/config';

/** Suites that start a PostgreSQL server: they need its package, and run by `npm run test:postgres`. */
const postgres = ['src/apiserver/storage/postgres/**/*.test.ts', 'src/ipam/stores.test.ts', 'src/cli/run.test.ts'];

/** What is promised of watches, crashes, concurrent writers and every order of events, proved at length: `npm run test:trust`. */
const trust = ['test/trust/**/*.test.ts', 'src/**/*.trust.test.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...postgres, ...trust],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // No module keeps what a test could see: loading them anew for each file took a third of the time.
          isolate: false,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'postgres',
          include: postgres,
          testTimeout: 300_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'trust',
          include: trust,
          testTimeout: 600_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        // Clients of others against a platform: every kubectl, client-node, a Go controller. `npm run test:clients`.
        test: {
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        // Every plane and controller in one process and in virtual time: nothing is waited for but the processor.
        test: {
          name: 'planes',
          include: ['test/e2e/*/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          isolate: false,
          maxWorkers: 2,
        },
      },
      {
        // A started platform each, on a machine of two cores: one file at a time.
        test: {
          name: 'e2e',
          include: ['test/e2e/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
          maxConcurrency: 2,
        },
      },
    ],
  },
});
