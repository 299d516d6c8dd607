export { fabricCellControllers } from './cell/index.ts';
export * from './codec/index.ts';
export type { FabricDeps } from './shared/deps.ts';
