export type { AccessAttributes, AccessDecision, Authenticator, Authorizer, ReviewKind } from './access/interfaces.ts';
export type { AggregatedResource } from './custom-resources.ts';
export type { ReadyCheck } from './documents.ts';
export type { ListenOptions, TlsFiles } from './listen.ts';
export type { Admission, AdmissionWrite, Limits } from './registry/call.ts';
export type { BackingRequest, ResourceBacking, ServedResource } from './resource.ts';
export { ApiServer, type ApiServerOptions, type PlaneOptions } from './server.ts';
