/**
 * What realizes interfaces in the cells. `fabric`: Berth's own controllers. `external`: somebody else's, who keeps the
 * contract of docs/providers.md. `none`: nobody, and nothing waits for it.
 */
export type DataPlane = 'fabric' | 'external' | 'none';
