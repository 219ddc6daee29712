/** What stands under a name that a client has given: `constructor` is one like any other. */
export const ownOf = <T>(all: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(all, name) ? all[name] : undefined;
