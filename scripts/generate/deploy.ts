import { cellAccount, cellRole, defaultFeatureGates } from '../../src/platform/index.ts';

const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: cellAccount.namespace } };
const account = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: cellAccount.name, namespace: cellAccount.namespace },
};

/** What each folder of deploy/ is for, by the role of the planes it is applied to. */
const bases = [
  { folder: 'cell', role: 'cell', before: [namespace, account] },
  { folder: 'hub', role: 'hub', before: [] },
  { folder: 'project', role: 'project', before: [] },
] as const;

/** Kustomize bases with the roles of cells that run as processes of their own: the objects of each file, by its path. */
export function deployFiles(): Map<string, readonly object[]> {
  const files = new Map<string, readonly object[]>();
  const kustomization = (folder: string, resources: readonly string[]) =>
    files.set(`${folder}/kustomization.yaml`, [
      { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources },
    ]);
  const gates = defaultFeatureGates();
  for (const { folder, role, before } of bases) {
    files.set(`deploy/${folder}/rbac.yaml`, [...before, ...objects(cellRole(role, gates))]);
    kustomization(`deploy/${folder}`, ['rbac.yaml']);
    const more = objects(cellRole(role, { ...gates, ReferencedData: true }));
    if (JSON.stringify(more) === JSON.stringify(objects(cellRole(role, gates)))) continue;
    files.set(`deploy/${folder}-referenced-data/rbac.yaml`, [...before, ...more]);
    kustomization(`deploy/${folder}-referenced-data`, ['rbac.yaml']);
  }
  return files;
}

function objects(role: ReturnType<typeof cellRole>): object[] {
  return role === undefined ? [] : [role.clusterRole, role.clusterRoleBinding];
}
