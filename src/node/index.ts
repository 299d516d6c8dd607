export { type SimulatedProviderDeps, simulatedProvider } from './provider/controller.ts';
export { providerName } from './provider/decide.ts';
