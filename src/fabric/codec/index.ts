export * from './base62.ts';
export * from './devices.ts';
export * from './identifiers.ts';
export * from './object-names.ts';
export * from './route-target.ts';
export * from './segment.ts';
