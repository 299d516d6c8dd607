import { Environment } from '@marcbachmann/cel-js';

let shared: Environment | undefined;

/** A fresh environment with the Kubernetes CEL libraries, open for more types. */
export function celEnvironment(): Environment {
  shared ??= new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  return shared.clone();
}
