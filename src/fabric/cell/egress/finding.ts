import { type Reason, reasonInfo } from '../../../api/index.ts';

/** What an operator is told, in an event. */
export interface Finding {
  type: 'Normal' | 'Warning';
  reason: Reason;
  note: string;
}

/** A finding is a warning where somebody has to act. `note`: the reason's message. */
export function found(reason: Reason, note: string): Finding {
  return { type: reasonInfo(reason).actor === 'nobody' ? 'Normal' : 'Warning', reason, note };
}
