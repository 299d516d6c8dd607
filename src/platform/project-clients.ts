import { type Client, type Clock, createClient, type Transport } from '../kube/index.ts';
import { projectPlane } from './planes.ts';

/** IPAM of a project, for a cell's controllers: by the project's path alone, over the transport each controller has. */
export function projectClients(
  transportOf: (controller: string) => Transport,
  clock: Clock,
): (controller: string, project: string) => Client {
  const made = new Map<string, Client>();
  return (controller, project) => {
    const key = `${controller}\0${project}`;
    const held = made.get(key);
    if (held !== undefined) return held;
    const client = createClient({
      transport: transportOf(controller),
      basePath: projectPlane(project).path,
      clock,
      userAgent: `berth/${controller}`,
      defaultFieldManager: controller,
    });
    made.set(key, client);
    return client;
  };
}
