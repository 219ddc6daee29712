export {
  type Admission,
  admit,
  admitsFrom,
  ask,
  type Breaker,
  type BreakerLimits,
  closed,
  fail,
  giveBack,
  reset,
  succeed,
  tryAgain,
} from './breaker.ts';
export { BreakerOpen, type Guard, guard, type Meaning } from './guard.ts';
