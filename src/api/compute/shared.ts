/** What the kinds of `compute.datumapis.com` share. */
export const compute = {
  group: 'compute.datumapis.com',
  version: 'v1alpha',
  namespaced: true,
  annotations: { 'discovery.miloapis.com/parent-contexts': 'Project' },
} as const;

/** The most instances of one deployment: a number nobody means is refused, rather than begun. */
export const mostReplicas = 100_000;
