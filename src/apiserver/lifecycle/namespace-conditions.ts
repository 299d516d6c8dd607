import { type Condition, withCondition } from '../../meta/index.ts';

/** What a pass over a namespace's content found. */
export interface ContentState {
  failures: unknown[];
  /** Objects still there, by `<plural>.<group>`, dot and all where the group is core. */
  remaining: Map<string, number>;
  /** Objects held, by finalizer. */
  finalizers: Map<string, number>;
}

/** The conditions of a terminating namespace, with the types, reasons and wording of kube-controller-manager. */
export function namespaceConditions(
  before: readonly Condition[] | undefined,
  { failures, remaining, finalizers }: ContentState,
  now: number,
): Condition[] {
  const failed = failures.map((failure) => (failure instanceof Error ? failure.message : String(failure)));
  const counted = (counts: Map<string, number>, word: string) =>
    [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => `${name} ${word} ${count} resource instances`)
      .join(', ');
  const answers: [
    type: string,
    failing: string | false,
    reasons: [whenTrue: string, whenFalse: string],
    fine: string,
  ][] = [
    [
      'NamespaceDeletionDiscoveryFailure',
      false,
      ['DiscoveryFailed', 'ResourcesDiscovered'],
      'All resources successfully discovered',
    ],
    [
      'NamespaceDeletionGroupVersionParsingFailure',
      false,
      ['GroupVersionParsingFailed', 'ParsedGroupVersions'],
      'All legacy kube types successfully parsed',
    ],
    [
      'NamespaceDeletionContentFailure',
      failed.length > 0 && `Failed to delete all resource types, ${failed.length} remaining: ${failed.join(', ')}`,
      ['ContentDeletionFailed', 'ContentDeleted'],
      'All content successfully deleted, may be waiting on finalization',
    ],
    [
      'NamespaceContentRemaining',
      remaining.size > 0 && `Some resources are remaining: ${counted(remaining, 'has')}`,
      ['SomeResourcesRemain', 'ContentRemoved'],
      'All content successfully removed',
    ],
    [
      'NamespaceFinalizersRemaining',
      finalizers.size > 0 && `Some content in the namespace has finalizers remaining: ${counted(finalizers, 'in')}`,
      ['SomeFinalizersRemain', 'ContentHasNoFinalizers'],
      'All content-preserving finalizers finished',
    ],
  ];
  let conditions = [...(before ?? [])];
  for (const [type, failing, [whenTrue, whenFalse], fine] of answers) {
    const next =
      failing === false
        ? { type, status: 'False' as const, reason: whenFalse, message: fine }
        : { type, status: 'True' as const, reason: whenTrue, message: failing };
    conditions = withCondition(conditions, next, now);
  }
  return conditions;
}
