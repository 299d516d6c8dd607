import type { CustomResourceDefinition } from '../meta/index.ts';
import type { ReviewKind } from './access/interfaces.ts';
import {
  type AggregatedResource,
  type Definition,
  type DefinitionCache,
  defineResource,
  servedByAggregation,
} from './custom-resources.ts';
import type { NameConflict, Served } from './served.ts';

/** Something that goes on while its plane is open: a watch. */
export interface Ongoing {
  /** Storage's name of the resource watched. */
  readonly resource: string;
  end(): void;
}

/** One plane's API: what it serves just now. */
export class Plane {
  readonly id: string;
  /** '' for the root plane. */
  readonly path: string;
  readonly project: string | undefined;
  readonly reviews: readonly ReviewKind[];
  readonly ongoing = new Set<Ongoing>();
  readonly #cache: DefinitionCache;
  readonly #fixed: readonly Served[];
  readonly #definitions = new Map<string, Definition>();
  #served = new Map<string, Served>();
  #serial = 0;

  constructor(options: {
    id: string;
    path: string;
    project: string | undefined;
    builtins: readonly Served[];
    aggregated: readonly AggregatedResource[];
    reviews: readonly ReviewKind[];
    definitions: DefinitionCache;
  }) {
    this.id = options.id;
    this.path = options.path === '/' ? '' : options.path;
    this.project = options.project;
    this.reviews = options.reviews;
    this.#cache = options.definitions;
    const aggregated = options.aggregated.map((resource) => servedByAggregation(resource));
    this.#fixed = [...options.builtins, ...aggregated];
    this.#rebuild();
  }

  /** Rises whenever what is served changes: discovery documents are cached by it. */
  get serial(): number {
    return this.#serial;
  }

  find(group: string, version: string, plural: string): Served | undefined {
    return this.#served.get(`${group}/${version}/${plural}`);
  }

  /** Whether a group and version is served by what is built in, not by CRDs. */
  isBuiltIn(group: string, version: string): boolean {
    const same = (kind: { group: string; version: string }): boolean =>
      kind.group === group && kind.version === version;
    return this.#fixed.some(({ resource }) => same(resource)) || this.reviews.some(same);
  }

  served(): Iterable<Served> {
    return this.#served.values();
  }

  review(group: string, version: string, plural: string): ReviewKind | undefined {
    return this.reviews.find((kind) => kind.plural === plural && kind.group === group && kind.version === version);
  }

  /**
   * Serves what `definition` says from now on. `revision` is that of the write: objects older than a change of the spec
   * are defaulted and pruned again when they are read.
   */
  define(definition: CustomResourceDefinition, revision: number): void {
    const { name } = definition.metadata;
    this.#definitions.set(name, defineResource(definition, revision, this.#definitions.get(name), this.#cache));
    this.#rebuild();
  }

  undefine(name: string): void {
    const known = this.#definitions.get(name);
    if (known === undefined) return;
    this.#definitions.delete(name);
    this.#rebuild();
    for (const ongoing of [...this.ongoing]) if (ongoing.resource === known.resource) ongoing.end();
  }

  /** Why the names of `candidate` cannot be served: another kind of its group has them. Of many reasons the last, as in Kubernetes. */
  nameConflict(candidate: CustomResourceDefinition): NameConflict | undefined {
    const { group, names } = candidate.spec!;
    let conflict: NameConflict | undefined;
    for (const { resource } of this.#served.values()) {
      if (resource.group !== group || `${resource.plural}.${resource.group}` === candidate.metadata.name) continue;
      const taken = new Set([resource.plural, resource.singular, ...resource.shortNames]);
      const checks: [string, string | undefined, boolean][] = [
        ['PluralConflict', names.plural, taken.has(names.plural)],
        ['SingularConflict', names.singular, names.singular !== undefined && taken.has(names.singular)],
        ...(names.shortNames ?? []).map((name): [string, string, boolean] => [
          'ShortNamesConflict',
          name,
          taken.has(name),
        ]),
        ['KindConflict', names.kind, resource.kind === names.kind || resource.listKind === names.kind],
        ['ListKindConflict', names.listKind, names.listKind === resource.kind || names.listKind === resource.listKind],
      ];
      for (const [reason, name, conflicts] of checks) {
        if (conflicts) conflict = { reason, message: `"${name}" is already in use` };
      }
    }
    return conflict;
  }

  /** Ends every watch of the plane. */
  end(): void {
    for (const ongoing of [...this.ongoing]) ongoing.end();
  }

  #rebuild(): void {
    const served = new Map<string, Served>();
    const add = (entry: Served): void => {
      const { group, version, plural } = entry.resource;
      served.set(`${group}/${version}/${plural}`, entry);
    };
    for (const definition of this.#definitions.values()) for (const entry of definition.served) add(entry);
    for (const entry of this.#fixed) add(entry);
    this.#served = served;
    this.#serial++;
  }
}
