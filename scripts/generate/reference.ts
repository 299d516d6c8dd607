import { stringify } from 'yaml';
import { type JsonSchema, type Kind, kindsOf, type PlaneRole } from '../../src/api/index.ts';
import { exampleOf } from './examples.ts';
import { fieldsOf, rulesOf } from './fields.ts';
import { code, escapeText, table } from './markdown.ts';

const roles: readonly PlaneRole[] = ['root', 'project', 'hub', 'cell'];

/** The reference page of one kind. */
export function kindPage(kind: Kind): string {
  const properties = kind.schema.properties as Record<string, JsonSchema>;
  const parts = [`# ${kind.kind}`, escapeText(kind.description), facts(kind)];
  for (const part of ['spec', 'status'] as const) {
    const schema = properties[part];
    if (schema === undefined) continue;
    parts.push(`## ${part === 'spec' ? 'Spec' : 'Status'}`, fieldTable(schema, part, isRequired(kind.schema, part)));
  }
  const seeded = (properties.status?.default as { conditions: { type: string; reason: string }[] } | undefined)
    ?.conditions;
  if (seeded !== undefined) {
    parts.push(
      `A new object has conditions ${list(seeded.map(({ type, reason }) => `${code(type)} (Unknown, ${reason})`))}. [Reasons](../../reasons.md) lists what their reasons mean.`,
    );
  }
  const rules = rulesOf(kind.schema, '');
  if (rules.length > 0) {
    parts.push('## Rules', 'Checked on every write, besides what the tables say.');
    parts.push(
      table(
        ['On', 'A refusal says', 'Rule (CEL)'],
        rules.map(({ path, message, rule }) => [path === '' ? 'the object' : code(path), message, code(rule)]),
      ),
    );
  }
  if (kind.columns.length > 0) {
    parts.push(
      '## Columns',
      table(
        ['Column', 'Type', 'Shows', ''],
        kind.columns.map((column) => [
          column.name,
          column.type,
          code(column.jsonPath),
          column.priority === 1 ? 'wide only' : '',
        ]),
      ),
    );
  }
  parts.push('## Example', `\`\`\`yaml\n${stringify(exampleOf(kind), { lineWidth: 0 })}\`\`\``);
  return parts.join('\n\n');
}

/** The list of all kinds. */
export function indexPage(kinds: readonly Kind[]): string {
  const groups = Map.groupBy(kinds, (kind) => `${kind.group}/${kind.version}`);
  const parts = ['# API reference', 'Every kind of Berth. `kubectl explain KIND` shows the same on the command line.'];
  for (const [group, members] of groups) {
    parts.push(
      `## ${group}`,
      table(
        ['Kind', 'What it is', 'Planes'],
        members.map((kind) => [
          `[${kind.kind}](${kind.group}/${kind.singular}.md)`,
          kind.description,
          planesOf(kind).join(', '),
        ]),
      ),
    );
  }
  parts.push('Conditions and refusals carry reasons: [the list of reasons](../reasons.md).');
  return parts.join('\n\n');
}

function facts(kind: Kind): string {
  const rows = [
    ['apiVersion', code(`${kind.group}/${kind.version}`)],
    ['Resource', code(kind.plural) + (kind.shortNames.length > 0 ? `, short ${list(kind.shortNames.map(code))}` : '')],
    ['Scope', kind.namespaced ? 'namespaced' : 'cluster'],
    ['Planes', planesOf(kind).join(', ')],
    ['Served by', kind.servedBy === 'crd' ? 'a CustomResourceDefinition' : 'IPAM, per project'],
  ];
  const subresources = [
    ...(kind.subresources.status ? ['status'] : []),
    ...(kind.subresources.scale === undefined ? [] : ['scale']),
  ];
  if (subresources.length > 0) rows.push(['Subresources', subresources.join(', ')]);
  if (kind.selectableFields.length > 0)
    rows.push(['Field selectors', list(kind.selectableFields.map((path) => code(path.slice(1))))]);
  return table(['', ''], rows);
}

function fieldTable(schema: JsonSchema, path: string, required: boolean): string {
  const [self, ...fields] = fieldsOf(schema, path);
  if (fields.length === 0) return escapeText(self!.description);
  const described = fields.filter((field) => field.description !== '' && !/(\[\]|\{\})$/.test(field.path));
  return [
    `${escapeText(self!.description)}${required ? ` ${code(path)} is required.` : ''}`,
    table(
      ['Field', 'Type', 'Required', 'Default', 'Allowed', 'What it is'],
      described.map((field) => [
        code(field.path),
        field.type,
        field.required ? 'yes' : '',
        code(field.default),
        field.constraints,
        field.description,
      ]),
    ),
  ].join('\n\n');
}

function planesOf(kind: Kind): PlaneRole[] {
  return roles.filter((role) => kindsOf(role).includes(kind));
}

function isRequired(schema: JsonSchema, name: string): boolean {
  return ((schema.required as string[] | undefined) ?? []).includes(name);
}

function list(words: readonly string[]): string {
  return words.join(', ');
}
