/** What tests of this room and of those below it stand on. No product code imports it. */
export { Environment, type EnvironmentOptions, type ProcessOptions } from './environment.ts';
export { type PlaneContent, TestServer, type TestServerOptions } from './server.ts';
export { openTestStorage } from './storage.ts';
export { type WidgetOptions, widgetDefinitionOf, widgetOf } from './widgets.ts';
export { type Sent, verbAndResource, Wire } from './wire.ts';
