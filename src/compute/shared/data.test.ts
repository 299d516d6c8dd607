import { expect, it } from 'vitest';
import type { InstanceSpec } from '../../api/index.ts';
import { companionName, dataReferences } from './data.ts';

it('finds every ConfigMap and Secret a template names, once each; one that is needed anywhere is needed', () => {
  const spec = {
    runtime: {
      resources: { instanceType: 'small' },
      sandbox: {
        containers: [
          {
            name: 'a',
            image: 'i',
            env: [
              { name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'a', optional: true } } },
              { name: 'B', valueFrom: { secretKeyRef: { name: 'db', key: 'b' } } },
              { name: 'C', value: 'c' },
              { name: 'D', valueFrom: { configMapKeyRef: { name: '', key: 'd' } } },
            ],
            envFrom: [
              { configMapRef: { name: 'more', optional: true } },
              { secretRef: { name: 'db', optional: true } },
            ],
          },
        ],
        imagePullSecrets: [{ name: 'registry' }],
      },
    },
    volumes: [
      { name: 'v', configMap: { name: 'settings' } },
      { name: 'w', secret: { secretName: 'cert' } },
      { name: 'x', disk: { template: { spec: { type: 'pd' } } } },
    ],
  } as unknown as InstanceSpec;
  expect(dataReferences(spec)).toEqual([
    { kind: 'ConfigMap', name: 'more', optional: true },
    { kind: 'ConfigMap', name: 'settings', optional: false },
    { kind: 'Secret', name: 'cert', optional: false },
    { kind: 'Secret', name: 'db', optional: false },
    { kind: 'Secret', name: 'registry', optional: false },
  ]);
  expect(dataReferences({ runtime: { resources: { instanceType: 'small' } } } as InstanceSpec)).toEqual([]);
});

it('names a companion by its deployment and its source, of any length', () => {
  const reference = { kind: 'Secret', name: 'db', optional: false } as const;
  expect(companionName('web-here-x', reference)).toBe('web-here-x-secret-db');
  expect(companionName('w'.repeat(253), reference)).toMatch(/^w+-[0-9a-f]{12}$/);
});
