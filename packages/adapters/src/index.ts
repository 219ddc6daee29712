export type * from './adapter.ts';
export * from './adapters.ts';
export * from './recorded-session.ts';
export * from './session/session.ts';
export { isAnswer, mayBeAnswer } from './shared/answers.ts';
export { plainTraitsOf } from './shared/plain-tools.ts';
export { asPaste } from './shared/screen.ts';
