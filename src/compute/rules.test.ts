import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { NetworkBinding, SubnetClaim } from '../api/index.ts';
import { type PlaneRole, systemClock } from '../kube/index.ts';
import { type ComputeDeps, computeCellControllers, computeHubControllers, computeProjectControllers } from './index.ts';

/** What compute may do with networking, as `role verb resource`. */
function mayDo(networkingIntegration: boolean): string[] {
  return rulesOf({ networkingIntegration, referencedData: false }, NetworkBinding.group);
}

function rulesOf(gates: Pick<ComputeDeps, 'networkingIntegration' | 'referencedData'>, group: string): string[] {
  const deps: ComputeDeps = {
    clock: systemClock,
    log: pino({ level: 'silent' }),
    hub: 'hub',
    recorder: () => {
      throw new Error('no events here');
    },
    ...gates,
    dataPlane: 'none',
  };
  const controllers = [
    ...computeProjectControllers(deps),
    ...computeHubControllers(deps),
    ...computeCellControllers(deps),
  ];
  const lines = controllers.flatMap(({ rules }) =>
    Object.entries(rules).flatMap(([role, list]) =>
      list
        .filter(({ apiGroups = [] }) => apiGroups.includes(group))
        .flatMap(({ verbs, resources = [] }) =>
          resources.flatMap((resource) => verbs.map((verb) => `${role as PlaneRole} ${verb} ${resource}`)),
        ),
    ),
  );
  return [...new Set(lines)].sort();
}

const locations = ['cell get servinglocations', 'cell list servinglocations', 'cell watch servinglocations'].concat(
  ['get', 'list', 'watch'].map((verb) => `project ${verb} locationbindings`),
);

describe('what compute may do with networking', () => {
  it('is nothing where it is not integrated: locations alone are read, as compute needs them', () => {
    expect(mayDo(false)).toEqual([...locations].sort());
  });

  it('is claims in cells and bindings on the hub where it is; subnet claims nowhere, and bindings nowhere else', () => {
    const writes = mayDo(true).filter((line) => !/ (get|list|watch) /.test(line));
    expect(writes).toEqual([
      'cell create networkinterfaceclaims',
      'cell delete networkinterfaceclaims',
      'cell patch networkinterfaceclaims',
      'hub create networkbindings',
      'hub delete networkbindings',
      'hub patch networkbindings',
    ]);
    expect(mayDo(true).filter((line) => line.endsWith(` ${SubnetClaim.plural}`))).toEqual([]);
    expect(mayDo(true).filter((line) => /^(cell|project) .* networkbindings$/.test(line))).toEqual([]);
  });
});

it('may read ConfigMaps and Secrets only where referenced data is carried, and write them on the hub alone', () => {
  const data = (referencedData: boolean) =>
    rulesOf({ networkingIntegration: true, referencedData }, '').filter((line) => / (configmaps|secrets)$/.test(line));
  expect(data(false)).toEqual([]);
  const writes = data(true).filter((line) => !/ (get|list|watch) /.test(line));
  expect(new Set(writes.map((line) => line.split(' ')[0]))).toEqual(new Set(['hub']));
  expect(data(true)).toContain('cell watch secrets');
});
