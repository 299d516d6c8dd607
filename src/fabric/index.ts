export * from './codec/index.ts';
