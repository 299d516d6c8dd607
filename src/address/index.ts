export * from './address.ts';
export * from './prefix.ts';
export * from './set.ts';
