// Vitest runs this before the tests, and again before each run of its watch mode: it builds the bundles of the present sources for tests that start Vigil.
import { prepareBundles } from './prepare.mjs';

const build = () => prepareBundles({ node: process.execPath, env: process.env });

export const setup = async (project) => {
  project.onTestsRerun(build);
  await build();
};
