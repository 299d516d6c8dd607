export {
  decidePod,
  fabricCellControllers,
  instanceRefOf,
  type PodAnswer,
  type PodSnapshot,
} from './cell/index.ts';
export * from './codec/index.ts';
export { fabricHubControllers } from './hub/index.ts';
export type { FabricDeps, FabricHubDeps } from './shared/deps.ts';
