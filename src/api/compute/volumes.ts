import { bool, int32, list, listMap, map, object, oneOf, optional, quantity, text } from '../schema.ts';

const items = () =>
  list(
    'Keys to show as files; all where absent.',
    object('One key.', {
      key: text('The key.'),
      path: text('Path of the file.'),
      mode: optional(int32('Permissions of the file.')),
    }),
  );

/** Volumes of an instance. */
export function volumes() {
  return listMap(
    'Volumes the instance\u2019s containers or machine can attach.',
    ['name'],
    object('One volume: give one of disk, configMap and secret.', {
      name: text('Name of the volume.'),
      disk: optional(disk),
      configMap: optional(
        object('Files from a ConfigMap.', {
          name: text('Name of the ConfigMap.', { default: '' }),
          items: optional(items()),
          defaultMode: optional(int32('Permissions of the files.')),
          optional: optional(bool('Whether it may be missing.')),
        }),
      ),
      secret: optional(
        object('Files from a Secret.', {
          secretName: optional(text('Name of the Secret.')),
          items: optional(items()),
          defaultMode: optional(int32('Permissions of the files.')),
          optional: optional(bool('Whether it may be missing.')),
        }),
      ),
    }),
  );
}

const disk = object('A disk.', {
  deviceName: optional(text('Name of the device in the instance.')),
  template: object('The disk to make.', {
    metadata: optional(
      object('Metadata of the disk.', {
        labels: optional(map('Labels of the disk.', text('A value.'))),
        annotations: optional(map('Annotations of the disk.', text('A value.'))),
      }),
    ),
    spec: object('What the disk is.', {
      type: text('Type of the disk.', { default: 'pd-standard' }),
      resources: optional(
        object('Size of the disk.', { requests: optional(map('What it is sure to get.', quantity('An amount.'))) }),
      ),
      populator: optional(
        object('What is on the disk at first: give one of image and filesystem.', {
          image: optional(object('An image.', { name: text('Name of the image.') })),
          filesystem: optional(object('An empty file system.', { type: oneOf('Type of the file system.', ['ext4']) })),
        }),
      ),
    }),
  }),
});
