export { Lifecycle, type LifecycleSettings } from './lifecycle.ts';
export { garbageCollectorAccount, type LifecyclePlane, namespaceControllerAccount } from './plane.ts';
