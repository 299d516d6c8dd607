export { compileSchema } from './compile.ts';
export type { CompiledSchema, FieldError, JsonSchema } from './schema.ts';
