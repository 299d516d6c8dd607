export * from './conditions.ts';
export * from './core.ts';
export * from './json.ts';
export * from './object.ts';
export * from './rbac.ts';
export * from './selector.ts';
export * from './status.ts';
export * from './time.ts';
