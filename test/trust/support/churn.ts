import { type Client, type Random, systemClock } from '../../../src/kube/index.ts';
import { ApiError, ConfigMap } from '../../../src/meta/index.ts';
import { configMap, keyOf } from './api.ts';

const names = Array.from({ length: 12 }, (_, n) => `object-${n}`);
/** Writers meet on the same objects: what one of them may be refused, having been overtaken. */
const overtaken = new Set(['AlreadyExists', 'Conflict', 'NotFound']);

/** Creates, changes and deletes a few objects in random order until the signal is aborted; answers how often it wrote. */
export async function churn(client: Client, random: Random, signal: AbortSignal, writer: string): Promise<number> {
  let writes = 0;
  while (!signal.aborted) {
    const name = names[Math.floor(random.next() * names.length)]!;
    const by = `${writer}.${writes}`;
    const chance = random.next();
    try {
      if (chance < 0.3) await client.create(ConfigMap, configMap(name, by));
      else if (chance < 0.8) await client.patch(ConfigMap, keyOf(name), { type: 'merge', body: { data: { by } } });
      else if (!(await client.delete(ConfigMap, keyOf(name)))) continue;
      writes++;
    } catch (error) {
      if (!(error instanceof ApiError) || !overtaken.has(error.reason)) throw error;
    }
    await systemClock.sleep(random.next() * 6);
  }
  return writes;
}
