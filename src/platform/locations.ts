import { Location } from '../api/index.ts';
import type { Client } from '../kube/index.ts';
import { apiVersionOf } from '../meta/index.ts';
import type { CellSpec } from './cells.ts';
import { topologyOf } from './project/controller.ts';

/** On Locations whose cell runs in this process: they are the record of which cells there are. */
export const embeddedCell = 'platform.datumapis.com/embedded-cell';

/** Cells there were, and those asked for now: asking only ever adds. Missing Locations are created. */
export async function ensureLocations(hub: Client, asked: readonly CellSpec[]): Promise<CellSpec[]> {
  const { items } = await hub.list(Location);
  const cells = new Map<string, CellSpec>();
  for (const { metadata, spec } of items) {
    if (metadata.annotations?.[embeddedCell] !== 'true') continue;
    const topology: Record<string, string> = spec?.topology ?? {};
    const cityCode = topology['topology.datum.net/city-code'] ?? metadata.name.toUpperCase();
    cells.set(metadata.name, { location: metadata.name, cityCode });
  }
  for (const cell of asked) {
    if (cells.has(cell.location)) continue;
    cells.set(cell.location, cell);
    const held = items.find((item) => item.metadata.name === cell.location);
    if (held === undefined) {
      await hub.create(Location, {
        apiVersion: apiVersionOf(Location),
        kind: Location.kind,
        metadata: { name: cell.location, annotations: { [embeddedCell]: 'true' } },
        spec: { locationClassName: 'self-managed', topology: topologyOf(cell), provider: {} },
      });
    } else {
      const body = { metadata: { annotations: { [embeddedCell]: 'true' } } };
      await hub.patch(Location, { namespace: '', name: cell.location }, { type: 'merge', body });
    }
  }
  return [...cells.values()];
}
