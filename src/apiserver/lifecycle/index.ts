export { Lifecycle, type LifecycleSettings } from './lifecycle.ts';
export { garbageCollectorAccount, type LifecyclePlane, lifecyclePlane, namespaceControllerAccount } from './plane.ts';
