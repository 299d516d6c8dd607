import { strategicMergeSupported } from '../patch/index.ts';
import type { JsonSchema } from '../schema/schema.ts';
import { type Described, groupVersionPath, gvkOf, schemaName } from './names.ts';
import { metaPrefix } from './shared-schemas.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query';
  type: 'string' | 'boolean' | 'integer';
  description: string;
}

/** One operation, in neither version's form: `openApiV2` and `openApiV3` write it down their way. */
export interface Operation {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  action: 'get' | 'list' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection';
  id: string;
  description: string;
  parameters: Parameter[];
  /** Schema names. */
  body: string | undefined;
  response: string;
  tag: string;
  gvk: JsonSchema;
}

export interface Path {
  path: string;
  parameters: Parameter[];
  operations: Operation[];
}

const patchTypes = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'];

/** The patches a kind takes: kubectl sends a strategic merge patch wherever one is offered. */
export function patchTypesOf(gvk: JsonSchema): string[] {
  const strategic = strategicMergeSupported(String(gvk.group), String(gvk.kind));
  return strategic ? [...patchTypes, 'application/strategic-merge-patch+json'] : patchTypes;
}

const query = (name: string, type: Parameter['type'], description: string): Parameter => ({
  name,
  in: 'query',
  type,
  description,
});

const pretty = query('pretty', 'string', 'If true, the answer is indented.');
const dryRun = query('dryRun', 'string', 'All: go through everything but the write.');
const fieldManager = query('fieldManager', 'string', 'Who is writing; recorded with the fields.');
const fieldValidation = query(
  'fieldValidation',
  'string',
  'Ignore, Warn or Strict: what happens to unknown and duplicate fields.',
);
const force = query('force', 'boolean', 'Take fields over from other managers; server-side apply only.');
const writing = [dryRun, fieldManager, fieldValidation];
const selecting = [
  query('labelSelector', 'string', 'Only objects whose labels match.'),
  query('fieldSelector', 'string', 'Only objects whose fields match.'),
];
const listing = [
  query('allowWatchBookmarks', 'boolean', 'Whether a watch may send bookmarks.'),
  query('continue', 'string', 'The page to go on with.'),
  ...selecting,
  query('limit', 'integer', 'How many items a page may have.'),
  query('resourceVersion', 'string', 'The state to show, or to watch from.'),
  query('resourceVersionMatch', 'string', 'Exact or NotOlderThan.'),
  query('sendInitialEvents', 'boolean', 'Whether a watch begins with what is there.'),
  query('timeoutSeconds', 'integer', 'When the call ends by itself.'),
  query('watch', 'boolean', 'Send changes as they happen.'),
];
const deleting = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Seconds the object is given to end by itself.'),
  query('propagationPolicy', 'string', 'Orphan, Background or Foreground.'),
];
const nameParameter: Parameter = { name: 'name', in: 'path', type: 'string', description: 'Name of the object.' };
const namespaceParameter: Parameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'Namespace of the object.',
};

const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** Every path a resource is served at. */
export function pathsOf(resource: Described): Path[] {
  const { group, version, kind, plural, namespaced } = resource;
  const object = schemaName(group, version, kind);
  const objects = schemaName(group, version, resource.listKind);
  const verbs = new Set(resource.verbs ?? allVerbs);
  const tag = `${(group === '' ? 'core' : group.replace(/\.k8s\.io$/, '')).replaceAll('.', '_')}_${version}`;
  const prefix = upper(tag.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()));
  const scope = namespaced ? 'Namespaced' : '';
  const make = (
    method: Operation['method'],
    action: Operation['action'],
    idVerb: string,
    description: string,
    parameters: Parameter[],
    io: { body?: string; response?: string; suffix?: string },
  ): Operation => ({
    method,
    action,
    id: `${idVerb}${prefix}${scope}${kind}${io.suffix ?? ''}`,
    description,
    parameters,
    body: io.body,
    response: io.response ?? object,
    tag,
    gvk: gvkOf(resource),
  });
  const root = `/${groupVersionPath(resource)}`;
  const collection = `${root}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`;
  const place = namespaced ? [namespaceParameter, pretty] : [pretty];
  const status = `${metaPrefix}Status`;
  const options = `${metaPrefix}DeleteOptions`;
  const patch = `${metaPrefix}Patch`;

  const onCollection: Operation[] = [];
  if (verbs.has('list')) {
    onCollection.push(
      make('get', 'list', 'list', `List or watch objects of kind ${kind}.`, listing, { response: objects }),
    );
  }
  if (verbs.has('create')) {
    onCollection.push(make('post', 'post', 'create', `Make an object of kind ${kind}.`, writing, { body: object }));
  }
  if (verbs.has('deletecollection')) {
    const io = { body: options, response: status };
    onCollection.push(
      make(
        'delete',
        'deletecollection',
        'deleteCollection',
        `Delete many objects of kind ${kind}.`,
        [...listing, ...deleting],
        io,
      ),
    );
  }
  const onObject = (suffix: string, what: string): Operation[] => {
    const found: Operation[] = [];
    if (verbs.has('get')) found.push(make('get', 'get', 'read', `Read ${what} ${kind}.`, [], { suffix }));
    if (verbs.has('update')) {
      found.push(make('put', 'put', 'replace', `Replace ${what} ${kind}.`, writing, { body: object, suffix }));
    }
    if (verbs.has('delete') && suffix === '') {
      found.push(
        make('delete', 'delete', 'delete', `Delete one ${kind}.`, deleting, { body: options, response: status }),
      );
    }
    if (verbs.has('patch')) {
      found.push(
        make('patch', 'patch', 'patch', `Change parts of ${what} ${kind}.`, [...writing, force], {
          body: patch,
          suffix,
        }),
      );
    }
    return found;
  };

  const paths: Path[] = [
    { path: collection, parameters: place, operations: onCollection },
    { path: `${collection}/{name}`, parameters: [nameParameter, ...place], operations: onObject('', 'one') },
  ];
  if (resource.subresources.status) {
    paths.push({
      path: `${collection}/{name}/status`,
      parameters: [nameParameter, ...place],
      operations: onObject('Status', 'the status of one'),
    });
  }
  if (namespaced && verbs.has('list')) {
    const everywhere = make(
      'get',
      'list',
      'list',
      `List or watch objects of kind ${kind} in all namespaces.`,
      listing,
      {
        response: objects,
        suffix: 'ForAllNamespaces',
      },
    );
    everywhere.id = everywhere.id.replace(scope, '');
    paths.push({ path: `${root}/${plural}`, parameters: [pretty], operations: [everywhere] });
  }
  return paths.filter((path) => path.operations.length > 0);
}

function upper(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
