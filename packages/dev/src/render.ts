import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './paths.ts';
import { endWith, Refusal } from './refusal.ts';
import { hasTool, headerOf, RENDERED, RENDERINGS, render } from './servers/rendered.ts';

/** Renders the manifests of deploy/ again if their sources have changed. */
const renderAll = async (): Promise<void> => {
  mkdirSync(path.join(root, RENDERED), { recursive: true });
  for (const rendering of RENDERINGS) {
    const file = path.join(root, RENDERED, rendering.file);
    const header = headerOf(rendering);
    if (existsSync(file) && readFileSync(file, 'utf8').startsWith(`${header}\n`)) continue;
    if (!hasTool(rendering))
      throw new Refusal(`${rendering.command[0]} is not in PATH: install it, then run \`npm run render\` again`);
    writeFileSync(file, `${header}\n${render(rendering)}`);
    console.log(`written ${RENDERED}/${rendering.file}`);
  }
};

await renderAll().catch(endWith);
