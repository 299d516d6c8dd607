export { fabricCellControllers } from './cell/index.ts';
export * from './codec/index.ts';
export { fabricHubControllers } from './hub/index.ts';
export type { FabricDeps, FabricHubDeps } from './shared/deps.ts';
