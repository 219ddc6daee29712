// Vitest runs this before the tests, and again before each run of its watch mode: tests that start Vigil start it as the sources are.
import { prepareBundles } from './prepare.mjs';

const build = () => prepareBundles({ node: process.execPath, env: process.env });

export const setup = async (project) => {
  project.onTestsRerun(build);
  await build();
};
