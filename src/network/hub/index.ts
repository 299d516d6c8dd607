import type { Controller } from '../../kube/index.ts';
import type { NetworkDeps } from '../shared/deps.ts';
export const networkHubControllers = (_deps: NetworkDeps): Controller[] => [];
