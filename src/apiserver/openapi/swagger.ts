import type { JsonSchema } from '../schema/schema.ts';

/** Swagger 2.0, as far as `/openapi/v2` goes. */
export interface SwaggerDocument {
  swagger: '2.0';
  info: { title: string; version: string };
  paths: Record<string, Record<string, unknown>>;
  definitions: Record<string, JsonSchema>;
}
