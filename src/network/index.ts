export { admitClaim, interfacePublication, interfaceSettling, networkCellControllers } from './cell/index.ts';
export { networkHubControllers } from './hub/index.ts';
export { networkProjectControllers } from './project/index.ts';
export type { NetworkDeps } from './shared/deps.ts';
