import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const IN_NODE_MODULES = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;

type Part = { readonly name: string; readonly version: string; readonly license: string; readonly text: string };

const partIn = (folder: string): Part => {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(?:licen[sc]e|copying)/i.test(entry));
  const text = file === undefined ? '' : readFileSync(path.join(folder, file), 'utf8').trim();
  return { name, version, license: typeof license === 'string' ? license : (license?.type ?? 'unknown'), text };
};

/** The packages whose modules are part of the built code, with their licenses, as a page; empty if there is none. */
export const licensesOf = (modules: readonly string[]): string => {
  const folders = modules.map((id) => IN_NODE_MODULES.exec(id.replace(/^\0/, ''))?.[1]);
  const found = [...new Set(folders)].filter((folder) => folder !== undefined);
  const parts = found.filter((folder) => existsSync(path.join(folder, 'package.json'))).map(partIn);
  if (parts.length === 0) return '';
  const sorted = parts.sort((a, b) => a.name.localeCompare(b.name));
  const sections = sorted.map(({ name, version, license, text }) =>
    [`## ${name} ${version}`, `License: ${license}`, ...(text === '' ? [] : [`\`\`\`text\n${text}\n\`\`\``])].join(
      '\n\n',
    ),
  );
  return `# Licenses of the packages that the built files contain\n\n${sections.join('\n\n')}\n`;
};
