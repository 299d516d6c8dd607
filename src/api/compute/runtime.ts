import { nameRef } from '../networking/shared.ts';
import { bool, int32, list, listMap, map, object, optional, quantity, text } from '../schema.ts';

/** How an instance runs: as containers in a sandbox, or as a virtual machine. */
export function runtime() {
  return object('How the instance runs: give one of sandbox and virtualMachine.', {
    resources: object('Size of the instance.', {
      instanceType: text('Type of the instance, such as datumcloud/d1-standard-2.'),
      requests: optional(map('Resources asked for beyond the type.', quantity('An amount.'))),
    }),
    class: optional(text('Runtime class; the platform\u2019s default where absent.', { maxLength: 253 })),
    sandbox: optional(
      object('Runs containers that share the instance\u2019s network.', {
        containers: listMap('Containers of the instance.', ['name'], container, { minItems: 1 }),
        imagePullSecrets: optional(list('Secrets to pull images with.', nameRef('A Secret.'))),
      }),
    ),
    virtualMachine: optional(
      object('Runs a virtual machine that boots from its first volume.', {
        volumeAttachments: list('Volumes of the machine.', volumeAttachment, { minItems: 1 }),
        ports: optional(ports()),
      }),
    ),
  });
}

const volumeAttachment = object('One volume.', {
  name: text('Name of the volume.'),
  mountPath: optional(text('Where to mount it; as a device where absent.')),
});

function ports() {
  return listMap(
    'Ports that are served, for people and other systems to read.',
    ['name'],
    object('One port.', {
      name: text('Name of the port.'),
      port: int32('Number of the port.', { minimum: 1, maximum: 65535 }),
      protocol: optional(text('TCP, UDP or SCTP; TCP where absent.')),
    }),
  );
}

const keyRef = (what: string) =>
  object(`A key of a ${what}.`, {
    name: text(`Name of the ${what}.`, { default: '' }),
    key: text('The key.'),
    optional: optional(bool('Whether it may be missing.')),
  });

const sourceRef = (what: string) =>
  object(`All keys of a ${what}.`, {
    name: text(`Name of the ${what}.`, { default: '' }),
    optional: optional(bool('Whether it may be missing.')),
  });

const environmentVariable = object('One environment variable.', {
  name: text('Name of the variable.'),
  value: optional(text('Its value.')),
  valueFrom: optional(
    object('Where its value is taken from.', {
      configMapKeyRef: optional(keyRef('ConfigMap')),
      secretKeyRef: optional(keyRef('Secret')),
      fieldRef: optional(
        object('A field of the instance.', {
          apiVersion: optional(text('Version of the API the path is written for.')),
          fieldPath: text('Path of the field.'),
        }),
      ),
      resourceFieldRef: optional(
        object('A resource of the container.', {
          containerName: optional(text('Name of the container.')),
          resource: text('The resource, such as limits.cpu.'),
          divisor: optional(quantity('Unit the amount is given in.')),
        }),
      ),
    }),
  ),
});

const container = object('One container.', {
  name: text('Name of the container.'),
  image: text('Image to run.'),
  command: optional(list('Entry point; that of the image where absent.', text('A word.'))),
  args: optional(list('Arguments of the entry point.', text('A word.'))),
  env: optional(listMap('Environment variables.', ['name'], environmentVariable)),
  envFrom: optional(
    list(
      'Sources all of whose keys become environment variables.',
      object('One source.', {
        prefix: optional(text('Put before each name.')),
        configMapRef: optional(sourceRef('ConfigMap')),
        secretRef: optional(sourceRef('Secret')),
      }),
    ),
  ),
  resources: optional(
    object('Resources of the container.', {
      limits: optional(map('The most it may use.', quantity('An amount.'))),
      requests: optional(map('What it is sure to get.', quantity('An amount.'))),
    }),
  ),
  volumeAttachments: optional(list('Volumes of the container.', volumeAttachment)),
  ports: optional(ports()),
});
