// Generated from packages/sdk/src/hook/door.ts by `npm run generate`: for Node 18, which reads no TypeScript.
/** What Vigil answers to a report. */
export const nothing         = { texts: [], denial: null, told: async () => {} };
