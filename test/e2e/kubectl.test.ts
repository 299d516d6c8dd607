import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Kubectl, kubectlVersions, rowsOf } from './support/kubectl.ts';
import { examples, usePlatform } from './support/platform.ts';

// The oldest and the newest kubectl at hand walk the short tour of the README.

const running = usePlatform({ restSeconds: 0 });

describe.each(['1.27', '1.33'])('kubectl %s', (version) => {
  test('applies, shows, waits, explains, patches, scales and deletes', async (context) => {
    const file = kubectlVersions.find((each) => each.version === version)?.file;
    context.skip(file === undefined, `kubectl.${version} is not in /usr/lib/google-cloud-sdk/bin`);
    const kubectl = new Kubectl(running(), 'project-alpha', file);
    expect(await kubectl.run('apply', '-f', join(examples, 'workload.yaml'))).toBe(
      'network.networking.datumapis.com/default created\nworkload.compute.datumapis.com/web created\n',
    );
    await kubectl.run('wait', 'workload/web', '--for=condition=ReplicasReady', '--timeout=30s');
    const rows = rowsOf(await kubectl.run('get', 'instances'));
    expect(rows.map((row) => row.READY)).toEqual(['True', 'True', 'True', 'True']);
    for (const row of rows) {
      expect(row['NETWORK IP']).toMatch(/^fd20:1000:/);
      expect(row['EXTERNAL IP']).toMatch(/^198\.51\.100\.\d+$/);
    }
    expect(await kubectl.run('describe', 'instance', rows[0]?.NAME ?? '')).toContain('Network IP:');
    expect(await kubectl.run('explain', 'workload.spec.placements')).toContain('scaleSettings');
    expect(await kubectl.run('api-resources', '--api-group=networking.datumapis.com', '-o', 'name')).toContain(
      'networkinterfaces.networking.datumapis.com',
    );
    const image = [{ op: 'replace', path: '/spec/placements/1/scaleSettings/minReplicas', value: 1 }];
    await kubectl.run('patch', 'workload', 'web', '--type=json', '-p', JSON.stringify(image));
    await kubectl.run('wait', 'instance/web-europe-eu-west-1-1', '--for=delete', '--timeout=30s');
    expect((await kubectl.run('get', 'instances', '-o', 'name')).trim().split('\n')).toHaveLength(3);
    await kubectl.run('label', 'workload', 'web', 'tier=front');
    expect(await kubectl.run('get', 'workloads', '-l', 'tier=front', '-o', 'name')).toBe(
      'workload.compute.datumapis.com/web\n',
    );
    await kubectl.run('apply', '--server-side', '--force-conflicts', '-f', join(examples, 'workload.yaml'));
    await kubectl.run('wait', 'workload/web', '--for=jsonpath={.status.readyReplicas}=4', '--timeout=30s');
    await kubectl.run('delete', 'workload', 'web', '--timeout=30s');
    await kubectl.run('delete', 'networkinterfaces', '--all', '--timeout=30s');
    await kubectl.run('delete', '-f', join(examples, 'workload.yaml'), '--ignore-not-found', '--timeout=30s');
    expect(await kubectl.run('get', 'networks,workloads,instances,ipclaims,networkinterfaces', '-o', 'name')).toBe('');
    expect(await kubectl.run('auth', 'can-i', 'create', 'workloads')).toBe('yes\n');
    const hub = await new Kubectl(running(), 'hub', file).run('get', 'locations', '-o', 'name');
    expect(hub.trim().split('\n')).toEqual([
      'location.networking.datumapis.com/eu-west-1',
      'location.networking.datumapis.com/us-central-1',
    ]);
  });
});
