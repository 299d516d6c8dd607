import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  Location,
  NetworkInterface,
  networkingAnnotations,
  networkingLabels,
  ServingLocation,
} from '../../../api/index.ts';
import { apiVersionOf, Event, Namespace, type Stored } from '../../../meta/index.ts';
import { type Hub, startHub } from '../testing.ts';

const apiVersion = apiVersionOf(Location);
const city = 'topology.datum.net/city-code';
const region = 'topology.datum.net/region';
let stack: Hub;

beforeEach(async () => {
  stack = await startHub({ quietPeriodSeconds: 20, projects: [] });
});

afterEach(() => stack.close());

function location(name: string, topology: Record<string, string>): Promise<Stored<Location>> {
  const spec = { locationClassName: 'self-managed', topology, provider: {} };
  return stack.hub.create(Location, { apiVersion, kind: 'Location', metadata: { name }, spec });
}

const key = { namespace: '', name: 'e2e-publish' };
const serving = () => stack.hub.get(ServingLocation, key);
const published = () => stack.until('it is published', serving);
const blocked = async () => (await serving())?.metadata.annotations?.[networkingAnnotations.removalBlocked];
const eventsOf = async (reason: string) =>
  (await stack.hub.list(Event)).items.filter((event) => event.reason === reason);

async function copyInLocation(name: string): Promise<void> {
  const namespace = 'ns-1';
  if ((await stack.hub.get(Namespace, { namespace: '', name: namespace })) === undefined) {
    await stack.hub.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  }
  await stack.hub.create(NetworkInterface, {
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
    await stack.hub.patch(Location, key, { type: 'merge', body: { metadata: { labels: { note: 'touched' } } } });
    await stack.restart();
    await stack.pass(150);
    expect((await serving())?.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const topology = { [region]: 'us-west-2' };
    await stack.hub.patch(Location, key, { type: 'merge', body: { spec: { topology } } });
    await stack.until('the edit arrives', async () => (await serving())?.spec?.topology[region] === 'us-west-2');
    await stack.hub.patch(Location, key, { type: 'merge', body: { spec: { topology: { [region]: null } } } });
    await stack.until('so does a removal', async () => (await serving())?.spec?.topology[region] === undefined);
    expect((await serving())?.spec?.source?.generation).toBe(3);
  });

  it('E30: does not publish a location without a city code, and says so', async () => {
    await location('e2e-publish', { [region]: 'us-west-1' });
    const [event] = await stack.until('it is said', async () => {
      const events = await eventsOf('MissingCityCode');
      return events.length > 0 && events;
    });
    expect(event).toMatchObject({
      type: 'Warning',
      metadata: { namespace: 'default' },
      regarding: { name: 'e2e-publish' },
    });
    await stack.pass(20);
    expect(await serving()).toBeUndefined();
    await stack.hub.patch(Location, key, { type: 'merge', body: { spec: { topology: { [city]: 'SJC' } } } });
    await published();
  });

  it('E31: keeps a deleted location published while something is in it, names it, and lets it go after the last', async () => {
    await location('e2e-publish', { [city]: 'SJC' });
    await published();
    await copyInLocation('a');
    await copyInLocation('b');
    await stack.hub.delete(Location, key);
    expect(await stack.until('it is said', blocked)).toMatch(
      /^ClustersStillServing: cell e2e-publish still has 2 NetworkInterfaces/,
    );
    await stack.hub.delete(NetworkInterface, { namespace: 'ns-1', name: 'a' });
    await stack.until('the count follows', async () => (await blocked())?.includes('1 NetworkInterface '));
    await stack.hub.delete(NetworkInterface, { namespace: 'ns-1', name: 'b' });
    await stack.until('it goes', async () => (await serving()) === undefined);
  });

  it('stays published when the Location comes back, and goes by force', async () => {
    await location('e2e-publish', { [city]: 'SJC' });
    const { metadata } = await published();
    await copyInLocation('a');
    await stack.hub.delete(Location, key);
    await stack.until('it is blocked', blocked);
    await location('e2e-publish', { [city]: 'SJC' });
    await stack.until('it is no longer', async () => (await blocked()) === undefined);
    expect((await serving())?.metadata.uid).toBe(metadata.uid);
    await stack.hub.delete(Location, key);
    await stack.until('it is blocked', blocked);
    const annotations = { [networkingAnnotations.removalOverride]: 'true' };
    await stack.hub.patch(ServingLocation, key, { type: 'merge', body: { metadata: { annotations } } });
    await stack.until('it goes', async () => (await serving()) === undefined);
  });

  it('never removes what somebody else published, and says what somebody else adds', async () => {
    const spec = { topology: { [city]: 'SJC' } };
    await stack.hub.create(ServingLocation, {
      apiVersion,
      kind: 'ServingLocation',
      metadata: { name: 'by-hand' },
      spec,
    });
    await location('e2e-publish', { [city]: 'SJC' });
    await published();
    await stack.hub.patch(ServingLocation, key, { type: 'merge', body: { spec: { topology: { extra: 'x' } } } });
    await stack.until('it is said', async () => (await eventsOf('ForeignFieldManager')).length > 0);
    stack.writes();
    await stack.pass(60);
    expect(stack.writes()).toEqual([]);
    expect(await stack.hub.get(ServingLocation, { namespace: '', name: 'by-hand' })).toBeDefined();
  });
});
