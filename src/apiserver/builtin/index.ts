import type { Served } from '../served.ts';
import { configMaps, namespaces, secrets, serviceAccounts } from './core.ts';
import { customResourceDefinitions } from './custom-resource-definitions.ts';
import { coreEvents, newEvents } from './events.ts';
import { leases } from './leases.ts';
import { rbacKinds } from './rbac.ts';

/** The kinds every plane serves. */
export const builtinKinds: readonly Served[] = [
  namespaces,
  configMaps,
  secrets,
  serviceAccounts,
  coreEvents,
  newEvents,
  leases,
  ...rbacKinds,
  customResourceDefinitions,
];

export { customResourceDefinitions, namespaces };
