import { Environment } from '@marcbachmann/cel-js';
import { registerCollections } from './collections.ts';
import { registerNetworking } from './networking.ts';
import { registerQuantities } from './quantities.ts';
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
  }
  return shared.clone();
}
