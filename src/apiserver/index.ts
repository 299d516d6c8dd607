export * from './access/index.ts';
export type { AggregatedResource } from './custom-resources.ts';
export type { ReadyCheck } from './documents.ts';
export { Lifecycle, lifecyclePlane } from './lifecycle/index.ts';
export type { ListenOptions, TlsFiles } from './listen.ts';
export type { Admission, AdmissionWrite, Limits } from './registry/call.ts';
export type { BackingRequest, ResourceBacking, ServedResource } from './resource.ts';
export { ApiServer, type ApiServerOptions, type PlaneOptions } from './server.ts';
export * from './storage/index.ts';
