import { NetworkInterface } from '../../api/index.ts';
import type { UpKind } from '../../federation/index.ts';
import type { Controller } from '../../kube/index.ts';
import type { NetworkDeps } from '../shared/deps.ts';
export const networkCellControllers = (_deps: NetworkDeps): Controller[] => [];
export const interfacePublication: UpKind<NetworkInterface> = { type: NetworkInterface, publish: () => undefined };
