export type { NetworkDeps } from './shared/deps.ts';
export { networkCellControllers, interfacePublication } from './cell/index.ts';
export { networkHubControllers } from './hub/index.ts';
export { networkProjectControllers } from './project/index.ts';
