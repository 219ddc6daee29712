export type * from './adapter.ts';
export * from './adapters.ts';
export * from './recorded-session.ts';
export * from './session/session.ts';
export { asPaste } from './shared/screen.ts';
