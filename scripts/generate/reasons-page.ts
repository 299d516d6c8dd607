import { type Actor, reasonGroups, reasonInfo } from '../../src/api/index.ts';
import { code } from './markdown.ts';

const actors: Record<Actor, string> = {
  tenant: 'who wrote the object',
  operator: 'who runs the platform',
  platform: 'the platform itself, which tries again',
  nobody: 'nobody',
};

/** docs/reasons.md: a heading for each reason, so that a message can point at it. */
export function reasonsPage(): string {
  const parts = [
    '# Reasons',
    'Conditions, events and refusals carry one of these words as their reason, and their message ends with a pointer to it here. In the messages, `{…}` stands for a value and `[…]` is said only where it is known.',
  ];
  for (const { title, codes } of reasonGroups) {
    parts.push(`## ${title}`);
    for (const reason of codes) {
      const { actor, description, template } = reasonInfo(reason);
      parts.push(`### ${reason}`, `${description} To act: ${actors[actor]}.`, `Message: ${code(template)}`);
    }
  }
  return parts.join('\n\n');
}
