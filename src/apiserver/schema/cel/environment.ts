import { Environment } from '@marcbachmann/cel-js';
import { registerCollections } from './collections.ts';
import { registerComprehensions } from './comprehensions.ts';
import { registerLists } from './lists.ts';
import { registerNetworking } from './networking.ts';
import { registerQuantities } from './quantities.ts';
import { registerSemver } from './semver.ts';
import { registerStrings } from './strings.ts';

let shared: Environment | undefined;

/** A fresh environment with the Kubernetes CEL libraries (k8s.io/apiserver/pkg/cel/library), open for more types. */
export function celEnvironment(): Environment {
  if (shared === undefined) {
    shared = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
    registerStrings(shared);
    registerCollections(shared);
    registerNetworking(shared);
    registerQuantities(shared);
    registerLists(shared);
    registerComprehensions(shared);
    registerSemver(shared);
  }
  return shared.clone();
}
