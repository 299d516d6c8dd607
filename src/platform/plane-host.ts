import { crdsOf, kindsOf } from '../api/index.ts';
import {
  type ApiServer,
  adminIdentity,
  type Lifecycle,
  lifecyclePlane,
  type RbacAuthorizer,
} from '../apiserver/index.ts';
import type { Ipam } from '../ipam/index.ts';
import { type Client, type Clock, type Controller, createClient, type Manager } from '../kube/index.ts';
import type { FeatureGates } from './gates.ts';
import { type PlaneRef, projectPlane } from './planes.ts';
import { installRoles } from './roles.ts';

export interface PlaneHostDeps {
  server: ApiServer;
  authorizer: RbacAuthorizer;
  lifecycle: Lifecycle;
  manager: Manager;
  ipam: Ipam;
  controllers: readonly Controller[];
  featureGates: FeatureGates;
  clock: Clock;
}

/** Opens and drops planes: serves their kinds, lets their controllers in, and lets them work there. */
export class PlaneHost {
  readonly #deps: PlaneHostDeps;
  readonly #open = new Map<string, Promise<void>>();

  constructor(deps: PlaneHostDeps) {
    this.#deps = deps;
  }

  /** A client of a plane as the platform's administrator. */
  admin(plane: PlaneRef): Client {
    const transport = this.#deps.server.transport(adminIdentity);
    return createClient({ transport, basePath: plane.path, clock: this.#deps.clock, userAgent: 'berth/platform' });
  }

  /** Resolves once the plane is served and its controllers are at work; at once where it is open. */
  open(plane: PlaneRef): Promise<void> {
    const opening = this.#open.get(plane.id) ?? this.#openNow(plane);
    this.#open.set(plane.id, opening);
    opening.catch(() => this.#open.delete(plane.id));
    return opening;
  }

  async #openNow(plane: PlaneRef): Promise<void> {
    const { server, authorizer, lifecycle, manager, ipam, controllers, featureGates, clock } = this.#deps;
    await server.openPlane({
      id: plane.id,
      path: plane.path === '' ? '/' : plane.path,
      ...(plane.role === 'project' ? { project: plane.name } : {}),
      crds: crdsOf(plane.role),
      aggregated: ipam.aggregated(kindsOf(plane.role)),
    });
    await authorizer.openPlane(plane.id);
    await installRoles(this.admin(plane), plane, controllers, featureGates);
    await lifecycle.openPlane(lifecyclePlane(server, { id: plane.id, path: plane.path }, clock));
    manager.engage({ id: plane.id, role: plane.role, name: plane.name });
  }

  /** Ends a project's plane and forgets everything in it. */
  async drop(project: string): Promise<void> {
    const { server, authorizer, lifecycle, manager, ipam } = this.#deps;
    const { id } = projectPlane(project);
    await manager.disengage(id);
    lifecycle.closePlane(id);
    await server.closePlane(id);
    await ipam.dropProject(id);
    await server.dropPlane(id);
    authorizer.closePlane(id);
    this.#open.delete(id);
  }
}
