export { type AgentOptions, cellOf } from './agent.ts';
export { copyOf, sourceUidOf, updateOf } from './copy.ts';
export { carryDown, type DownKind } from './down.ts';
export { sourceCell, sourceUid } from './keys.ts';
export { clearLost, type LostKind } from './lost.ts';
export { lostMark } from './mark.ts';
export { carryNamespaces } from './namespaces.ts';
export { isSynced, unsyncedRetry } from './synced.ts';
export { carryUp, type HubLookup, type UpKind } from './up.ts';
