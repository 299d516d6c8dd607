import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  Location,
  NetworkInterface,
  networkingAnnotations,
  networkingLabels,
  ServingLocation,
} from '../../../api/index.ts';
import type { Environment } from '../../../apiserver/testing/index.ts';
import { apiVersionOf, Event, Namespace, type Stored } from '../../../meta/index.ts';
import { openHub } from '../testing.ts';

const apiVersion = apiVersionOf(Location);
const city = 'topology.datum.net/city-code';
const region = 'topology.datum.net/region';
let environment: Environment;

beforeEach(async () => {
  environment = await openHub({ quietPeriodSeconds: 20, projects: [] });
});

afterEach(() => environment.close());

function location(name: string, topology: Record<string, string>): Promise<Stored<Location>> {
  const spec = { locationClassName: 'self-managed', topology, provider: {} };
  return environment.hub.create(Location, { apiVersion, kind: 'Location', metadata: { name }, spec });
}

const key = { namespace: '', name: 'e2e-publish' };
const serving = () => environment.hub.get(ServingLocation, key);
const published = () => environment.until('it is published', serving);
const blocked = async () => (await serving())?.metadata.annotations?.[networkingAnnotations.removalBlocked];
const eventsOf = async (reason: string) =>
  (await environment.hub.list(Event)).items.filter((event) => event.reason === reason);

async function copyInLocation(name: string): Promise<void> {
  const namespace = 'ns-1';
  if ((await environment.hub.get(Namespace, { namespace: '', name: namespace })) === undefined) {
    await environment.hub.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  }
  await environment.hub.create(NetworkInterface, {
    apiVersion,
    kind: 'NetworkInterface',
    metadata: { name, namespace, labels: { [networkingLabels.location]: 'e2e-publish' } },
    spec: { network: { name: 'net' }, interfaceName: 'eth0', attachmentMode: 'Netns', reclaimPolicy: 'Retain' },
  });
}

describe('location publisher', () => {
  it('E29: publishes a location, follows its edits, and writes nothing when nothing changed', async () => {
    await location('e2e-publish', { [city]: 'SJC', [region]: 'us-west-1' });
    const first = await published();
    expect(first.metadata.labels?.[networkingLabels.publishedBy]).toBe('location-publisher');
    expect(first.spec).toMatchObject({
      topology: { [city]: 'SJC', [region]: 'us-west-1' },
      source: { generation: 1, publishedAt: expect.stringMatching(/Z$/) },
    });
    await environment.hub.patch(Location, key, { type: 'merge', body: { metadata: { labels: { note: 'touched' } } } });
    await environment.restart();
    await environment.pass(150);
    expect((await serving())?.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const topology = { [region]: 'us-west-2' };
    await environment.hub.patch(Location, key, { type: 'merge', body: { spec: { topology } } });
    await environment.until('the edit arrives', async () => (await serving())?.spec?.topology[region] === 'us-west-2');
    await environment.hub.patch(Location, key, { type: 'merge', body: { spec: { topology: { [region]: null } } } });
    await environment.until('so does a removal', async () => (await serving())?.spec?.topology[region] === undefined);
    expect((await serving())?.spec?.source?.generation).toBe(3);
  });

  it('E30: does not publish a location without a city code, and says so', async () => {
    await location('e2e-publish', { [region]: 'us-west-1' });
    const [event] = await environment.until('it is said', async () => {
      const events = await eventsOf('MissingCityCode');
      return events.length > 0 && events;
    });
    expect(event).toMatchObject({
      type: 'Warning',
      metadata: { namespace: 'default' },
      regarding: { name: 'e2e-publish' },
    });
    await environment.pass(20);
    expect(await serving()).toBeUndefined();
    await environment.hub.patch(Location, key, { type: 'merge', body: { spec: { topology: { [city]: 'SJC' } } } });
    await published();
  });

  it('E31: keeps a deleted location published while something is in it, names it, and lets it go after the last', async () => {
    await location('e2e-publish', { [city]: 'SJC' });
    await published();
    await copyInLocation('a');
    await copyInLocation('b');
    await environment.hub.delete(Location, key);
    expect(await environment.until('it is said', blocked)).toMatch(
      /^ClustersStillServing: cell e2e-publish still has 2 NetworkInterfaces/,
    );
    await environment.hub.delete(NetworkInterface, { namespace: 'ns-1', name: 'a' });
    await environment.until('the count follows', async () => (await blocked())?.includes('1 NetworkInterface '));
    await environment.hub.delete(NetworkInterface, { namespace: 'ns-1', name: 'b' });
    await environment.until('it goes', async () => (await serving()) === undefined);
  });

  it('stays published when the Location comes back, and goes by force', async () => {
    await location('e2e-publish', { [city]: 'SJC' });
    const { metadata } = await published();
    await copyInLocation('a');
    await environment.hub.delete(Location, key);
    await environment.until('it is blocked', blocked);
    await location('e2e-publish', { [city]: 'SJC' });
    await environment.until('it is no longer', async () => (await blocked()) === undefined);
    expect((await serving())?.metadata.uid).toBe(metadata.uid);
    await environment.hub.delete(Location, key);
    await environment.until('it is blocked', blocked);
    const annotations = { [networkingAnnotations.removalOverride]: 'true' };
    await environment.hub.patch(ServingLocation, key, { type: 'merge', body: { metadata: { annotations } } });
    await environment.until('it goes', async () => (await serving()) === undefined);
  });

  it('never removes what somebody else published, and says what somebody else adds', async () => {
    const spec = { topology: { [city]: 'SJC' } };
    await environment.hub.create(ServingLocation, {
      apiVersion,
      kind: 'ServingLocation',
      metadata: { name: 'by-hand' },
      spec,
    });
    await location('e2e-publish', { [city]: 'SJC' });
    await published();
    await environment.hub.patch(ServingLocation, key, { type: 'merge', body: { spec: { topology: { extra: 'x' } } } });
    await environment.until('it is said', async () => (await eventsOf('ForeignFieldManager')).length > 0);
    environment.wire.writes.splice(0);
    await environment.pass(60);
    expect(environment.wire.writes).toEqual([]);
    // It is at work all the same.
    await environment.hub.patch(Location, key, { type: 'merge', body: { spec: { topology: { [city]: 'LAX' } } } });
    await environment.until('an edit arrives', async () => (await serving())?.spec?.topology[city] === 'LAX');
    expect(await environment.hub.get(ServingLocation, { namespace: '', name: 'by-hand' })).toBeDefined();
  });
});
