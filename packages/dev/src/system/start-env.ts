/**
 * The file of addresses and tokens that `npm start` writes. A shell that reads it exports the variables to the programs
 * it starts; the command line reads it with bootstrap/start-env.mjs.
 */
export const startEnvText = (env: Readonly<Record<string, string>>): string =>
  Object.entries(env)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`)
    .join('');
