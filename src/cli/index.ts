/** What tests and benchmarks use of the command: sessions with a running platform, and what is seen in it. */
export { CheckFailed, keyOf, Session } from './demo/session.ts';
export {
  type Addresses,
  addressesOf,
  agreesWithIpam,
  checkAgainstIpam,
  identities,
  instancesOf,
  published,
  ready,
} from './demo/view.ts';
