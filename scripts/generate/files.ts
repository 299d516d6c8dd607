import { stringify } from 'yaml';
import { allKinds, crdManifest, type Kind } from '../../src/api/index.ts';
import { deployFiles } from './deploy.ts';
import { reasonsPage } from './reasons-page.ts';
import { indexPage, kindPage } from './reference.ts';

const notice = 'Generated from src/api by `npm run generate`. Do not edit.';
const roleNotice = 'Generated from what controllers export by `npm run generate`. Do not edit.';

/** Every generated file: path from the root of the repository, and content. The same source gives the same bytes. */
export function generatedFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const kind of allKinds) {
    if (kind.servedBy === 'crd') files.set(`deploy/crds/${kind.plural}.${kind.group}.yaml`, crdFile(kind));
    files.set(`docs/reference/${kind.group}/${kind.singular}.md`, markdown(kindPage(kind)));
  }
  files.set('docs/reference/README.md', markdown(indexPage(allKinds)));
  files.set('docs/reasons.md', markdown(reasonsPage()));
  for (const [path, objects] of deployFiles()) files.set(path, objects.map(yamlDocument).join('---\n'));
  return files;
}

function yamlDocument(object: object, index: number): string {
  const head = index === 0 ? `# ${roleNotice}\n` : '';
  return `${head}${stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

function crdFile(kind: Kind): string {
  return `# ${notice}\n${stringify(crdManifest(kind), { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

function markdown(page: string): string {
  return `<!-- ${notice} -->\n\n${page.trimEnd()}\n`;
}
