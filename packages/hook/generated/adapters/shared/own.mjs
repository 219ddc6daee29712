// Generated from packages/adapters/src/shared/own.ts by `npm run generate`: for Node 18, which reads no TypeScript.
/** What stands under a name that a client has given: `constructor` is one like any other. */
export const ownOf =    (all                             , name        )                =>
  Object.hasOwn(all, name) ? all[name] : undefined;
