import type { Static } from 'typebox';
import type { KubeObject } from '../../meta/index.ts';
import { labelSelector } from '../compute/placements.ts';
import { age, column } from '../conditions.ts';
import { defineKind } from '../define.ts';
import type { Kind } from '../kind.ts';
import { object, text } from '../schema.ts';
import { cloud } from './shared.ts';

const spec = object('Which shards a class of internet egress uses.', {
  shardNamespace: text('Namespace of the shards. They live in galactic-system.', { minLength: 1, maxLength: 63 }),
  shardSelector: labelSelector('Selects shards by their labels; {} selects every shard of the namespace.'),
});

export type EgressShardParameters = KubeObject<Static<typeof spec>>;
export const EgressShardParameters: Kind<EgressShardParameters> = defineKind<EgressShardParameters>({
  ...cloud,
  kind: 'EgressShardParameters',
  plural: 'egressshardparameters',
  namespaced: false,
  description: 'Says which egress shards of a cell carry out an InternetEgressClass, whose parametersRef names it.',
  spec,
  columns: [column('Shard Namespace', '.spec.shardNamespace'), age],
});
