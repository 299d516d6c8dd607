export * from './client.ts';
export * from './clock/clock.ts';
export * from './controller.ts';
export * from './informer.ts';
export * from './random.ts';
export * from './transport.ts';
