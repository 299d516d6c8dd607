/**
 * `npm run -s test:provider -- [--kubeconfig FILE] [--context NAME] …`: whether the infrastructure provider at work in a
 * cell keeps to docs/providers.md. Makes what it needs in a namespace of its own, and takes it away again.
 */
import { parseArgs } from 'node:util';
import type { Instance } from '../../src/api/index.ts';
import { createClient, kubeconfigTransport, systemClock } from '../../src/kube/index.ts';
import { runSuite } from './suite.ts';

const usage = `npm run -s test:provider -- [options]

  --kubeconfig FILE    default: KUBECONFIG, or ~/.kube/config
  --context NAME       the cell's context; default: the current one
  --namespace NAME     namespace to work in, made where it is not there; default: provider-suite
  --image NAME         image of the one container of the instances; default: docker.io/library/nginx:1.29
  --instance-type NAME default: datumcloud/d1-standard-2
  --patience SECONDS   how long the provider may take for one thing; default: 60
  --watch SECONDS      how long it is watched where it has nothing to do; default: 5
`;

async function main(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      kubeconfig: { ...text, default: process.env.KUBECONFIG ?? `${process.env.HOME}/.kube/config` },
      context: text,
      namespace: { ...text, default: 'provider-suite' },
      image: { ...text, default: 'docker.io/library/nginx:1.29' },
      'instance-type': { ...text, default: 'datumcloud/d1-standard-2' },
      patience: { ...text, default: '60' },
      watch: { ...text, default: '5' },
      help: { type: 'boolean', default: false },
    },
  });
  const [patience, watch] = [Number(values.patience), Number(values.watch)];
  if (values.help || !(patience > 0) || !(watch > 0)) {
    process.stderr.write(usage);
    return values.help ? 0 : 2;
  }
  const transport = kubeconfigTransport(values.kubeconfig, values.context);
  try {
    const outcomes = await runSuite(
      {
        cell: createClient({ transport, basePath: '', clock: systemClock, userAgent: 'berth-provider-suite' }),
        clock: systemClock,
        namespace: values.namespace,
        patienceMilliseconds: patience * 1000,
        watchMilliseconds: watch * 1000,
        runtime: {
          resources: { instanceType: values['instance-type'] },
          sandbox: { containers: [{ name: 'main', image: values.image }] },
        } as NonNullable<Instance['spec']>['runtime'],
      },
      ({ check, fault }) =>
        process.stdout.write(fault === undefined ? `ok    ${check}\n` : `FAIL  ${check}\n      ${fault}\n`),
    );
    const failed = outcomes.filter(({ fault }) => fault !== undefined).length;
    process.stdout.write(`${outcomes.length} checks, ${outcomes.length - failed} kept, ${failed} failed\n`);
    return failed === 0 ? 0 : 1;
  } finally {
    await transport.close();
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`test:provider: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
