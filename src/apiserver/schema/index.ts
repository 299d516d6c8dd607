export { compileSchema } from './compile.ts';
export { checkCustomResourceDefinition } from './custom-resource-definition.ts';
export { regexOf } from './regex/regex.ts';
export type { CompiledSchema, FieldError, JsonSchema } from './schema.ts';
