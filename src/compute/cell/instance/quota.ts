import { reasonMessage } from '../../../api/index.ts';
import type { Quota } from './controller.ts';

/** Quota where nobody sets any: every instance may run, and says that nothing was counted. */
export const alwaysGranted: Quota = {
  evaluate: () => ({ granted: true, reason: 'QuotaDisabled', message: reasonMessage('QuotaDisabled') }),
};
