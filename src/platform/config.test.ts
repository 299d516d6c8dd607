import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configFields, decodeConfig, defaultConfig, loadConfig } from './config.ts';
import { parseFeatureGates } from './gates.ts';

test('an empty configuration is the documented defaults', () => {
  expect(defaultConfig()).toEqual({
    quietPeriodSeconds: 300,
    restSeconds: 60,
    auditSeconds: 600,
    orphanSeconds: 60,
    leases: {},
    ipam: { classes: { networkIPv6: 'network-ipv6', subnetIPv6: 'subnet-ipv6', subnetIPv4: 'subnet-ipv4' } },
    dataPlane: 'fabric',
    featureGates: { NetworkingIntegration: true, ReferencedData: false },
  });
});

test('what is given stands beside the defaults of what is not', () => {
  const config = decodeConfig({ restSeconds: 0, ipam: { classes: { networkIPv4: 'net4' } } }, 'c.yaml');
  expect(config.restSeconds).toBe(0);
  expect(config.quietPeriodSeconds).toBe(300);
  expect(config.ipam.classes).toEqual({
    networkIPv6: 'network-ipv6',
    subnetIPv6: 'subnet-ipv6',
    subnetIPv4: 'subnet-ipv4',
    networkIPv4: 'net4',
  });
});

test.each([
  [{ restSecond: 5 }, /^c\.yaml: restSecond is not a field; known here: quietPeriodSeconds, restSeconds,/],
  [{ ipam: { clases: {} } }, /^c\.yaml: ipam\.clases is not a field; known here: classes$/],
  [{ restSeconds: -1 }, /^c\.yaml: restSeconds must be >= 0$/],
  [{ restSeconds: '5' }, /^c\.yaml: restSeconds must be integer$/],
  [{ dataPlane: 'magic' }, /^c\.yaml: dataPlane must be one of: fabric, external, none$/],
  [{ featureGates: { Nope: true } }, /^c\.yaml: featureGates\.Nope is not a feature gate$/],
  [[], /^c\.yaml: the configuration must be a mapping of fields/],
])('%j is refused with one sentence that names the field', (value, message) => {
  expect(() => decodeConfig(value, 'c.yaml')).toThrow(message);
});

test('a file is read as YAML; one that is missing or not YAML is said to be so', () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-config-'));
  try {
    writeFileSync(join(folder, 'good.yaml'), '# quick\nquietPeriodSeconds: 20\n');
    writeFileSync(join(folder, 'bad.yaml'), 'quietPeriodSeconds: [20\n');
    expect(loadConfig(join(folder, 'good.yaml')).quietPeriodSeconds).toBe(20);
    expect(() => loadConfig(join(folder, 'bad.yaml'))).toThrow(/bad\.yaml is not YAML/);
    expect(() => loadConfig(join(folder, 'none.yaml'))).toThrow(/none\.yaml cannot be read/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('feature gates are parsed as Kubernetes components parse them', () => {
  expect(parseFeatureGates('NetworkingIntegration=false')).toEqual({ NetworkingIntegration: false });
  expect(() => parseFeatureGates('Other=true')).toThrow('feature gate "Other" is unknown');
  expect(() => parseFeatureGates('NetworkingIntegration=1')).toThrow('must be true or false, not "1"');
});

test('every field is described for people', () => {
  const fields = configFields();
  expect(fields.map((row) => row.field)).toContain('ipam.classes.subnetIPv4');
  expect(fields.filter((row) => row.description === '')).toEqual([]);
});
