export type { OpenApiDocument } from './document.ts';
export type { Described } from './names.ts';
export { openApiV2, openApiV2ProtobufType } from './v2.ts';
export { openApiV3, openApiV3Index } from './v3.ts';
