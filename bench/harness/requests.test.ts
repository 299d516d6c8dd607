import { expect, test } from 'vitest';
import { countRequests } from './requests.ts';

test('writes are counted apart from reads, Events, Leases and IPAM; watches are no calls', () => {
  const metrics = [
    '# TYPE apiserver_request_total counter',
    'apiserver_request_total{plane="cell",verb="create",group="networking.datumapis.com",resource="networkinterfaces",subresource="",code="201"} 3',
    'apiserver_request_total{plane="hub",verb="patch",group="",resource="namespaces",subresource="status",code="200"} 4',
    'apiserver_request_total{plane="project",verb="get",group="",resource="namespaces",subresource="",code="200"} 50',
    'apiserver_request_total{plane="root",verb="create",group="events.k8s.io",resource="events",subresource="",code="201"} 60',
    'apiserver_request_total{plane="cell",verb="update",group="coordination.k8s.io",resource="leases",subresource="",code="200"} 70',
    'apiserver_request_total{plane="project",verb="create",group="ipam.miloapis.com",resource="ipclaims",subresource="",code="201"} 8',
    'apiserver_request_total{plane="project",verb="list",group="ipam.miloapis.com",resource="ipclaims",subresource="",code="200"} 9',
    'apiserver_request_total{plane="project",verb="watch",group="ipam.miloapis.com",resource="ippools",subresource="",code="200"} 1000',
    'apiserver_request_duration_seconds_count{verb="create"} 5',
  ].join('\n');
  expect(countRequests(metrics)).toEqual({ writes: 7, byPlane: { cell: 3, hub: 4 }, ipam: 17 });
});
