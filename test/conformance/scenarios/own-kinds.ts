import { makeNamespace } from '../definitions.ts';
import { scenario } from '../harness/scenario.ts';

scenario('kinds of this project', async (api) => {
  await makeNamespace(api, 'own');
  const networking = '/apis/networking.datumapis.com/v1alpha';
  const networks = `${networking}/namespaces/own/networks`;
  const network = (name: string, spec: unknown) => ({
    apiVersion: 'networking.datumapis.com/v1alpha',
    kind: 'Network',
    metadata: { name },
    spec,
  });
  await api.post(networks, network('default', { ipam: { mode: 'Auto' } }));
  await api.post(networks, network('bare', {}));
  await api.post(networks, network('odd', { ipam: { mode: 'Odd' } }));
  await api.post(networks, network('none', undefined));
  await api.post(networks, network('mtu', { ipam: { mode: 'Auto' }, mtu: 9 }));
  await api.post(networks, network('families', { ipam: { mode: 'Auto' }, ipFamilies: ['IPv5'] }));
  await api.patch('merge', `${networks}/default`, { spec: { mtu: 1400 } });
  await api.patch('merge', `${networks}/default/status`, {
    status: {
      conditions: [
        { type: 'Ready', status: 'True', reason: 'R', message: '', lastTransitionTime: '2001-01-01T00:00:00Z' },
      ],
    },
  });
  await api.get(networks, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  const locations = `${networking}/locations`;
  const location = (name: string, spec: unknown) => ({
    apiVersion: 'networking.datumapis.com/v1alpha',
    kind: 'Location',
    metadata: { name },
    spec,
  });
  await api.post(
    locations,
    location('here', {
      locationClassName: 'datum-managed',
      topology: { 'topology.datum.net/city-code': 'DFW' },
      provider: { gcp: { projectId: 'p', region: 'r', zone: 'z' } },
    }),
  );
  await api.post(locations, location('empty', {}));
  await api.post(locations, location('provider', { locationClassName: 'x', topology: {}, provider: { gcp: {} } }));
  await api.get(locations, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  await api.patch('merge', `${locations}/here`, { spec: { provider: { gcp: { zone: null } } } });
  const workloads = '/apis/compute.datumapis.com/v1alpha/namespaces/own/workloads';
  const workload = (name: string, spec: unknown) => ({
    apiVersion: 'compute.datumapis.com/v1alpha',
    kind: 'Workload',
    metadata: { name },
    spec,
  });
  const container = { name: 'c', image: 'i' };
  const good = {
    template: {
      spec: {
        runtime: { resources: { instanceType: 'datumcloud/d1-standard-2' }, sandbox: { containers: [container] } },
        networkInterfaces: [{ network: { name: 'default' } }],
      },
    },
    placements: [{ name: 'p', locations: [{ name: 'dfw' }], scaleSettings: { minReplicas: 1 } }],
  };
  await api.post(workloads, workload('w', good));
  await api.post(workloads, workload('nowhere', { ...good, placements: [{ ...good.placements[0], locations: [] }] }));
  await api.post(workloads, workload('empty', {}));
  await api.post(workloads, workload('twice', { ...good, placements: [good.placements[0], good.placements[0]] }));
  await api.patch('apply', `${workloads}/applied?fieldManager=a`, workload('applied', good));
  await api.patch(
    'apply',
    `${workloads}/applied?fieldManager=b&force=true`,
    workload('applied', { placements: [{ name: 'p', scaleSettings: { minReplicas: 3 } }] }),
  );
  await api.get(workloads, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  await api.delete(workloads);
});
