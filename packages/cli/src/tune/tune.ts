import { existsSync, writeFileSync } from 'node:fs';
import { VOCABULARY } from '@vigil/health';
import { changedDocument, type Tuning, tune } from '@vigil/health/tuning';
import { compile } from '@vigil/policy';
import { stringify } from 'yaml';
import { CannotProceed } from '../errors.ts';
import { policyCalled } from '../evaluate/evaluate.ts';
import type { SpanOptions } from '../replay/source.ts';
import { show } from '../terminal.ts';
import { evidenceOf, tunedLines } from './lines.ts';
import { worksOf } from './works.ts';

/** `mostWrong`: percent of the judged agents or runs. `out`: a new file for the proposed policy. */
type Options = SpanOptions & { readonly policy: string; readonly mostWrong: number; readonly out?: string };

/** Judges a fleet's own history under other limits, and proposes a policy. Throws CannotProceed. */
export const tunePolicy = async (
  files: readonly string[],
  { policy: name, mostWrong, out, json, ...span }: Options,
): Promise<void> => {
  if (out !== undefined && existsSync(out))
    throw new CannotProceed(`${out} exists, and is not overwritten: name another file (--out)`);
  const policy = policyCalled(name);
  const works = await worksOf(files, span);
  if (works.length === 0) throw new CannotProceed('nothing in this history can be judged: give a longer one');
  const onLimit = (done: number, of: number) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${of} limits\u001b[K`);
  };
  const tuning = tune(policy, works, { mostWrong: mostWrong / 100, onLimit });
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  const document = changedDocument(policy.document, tuning.changes);
  // A proposal that cannot be loaded is a fault of Vigil, not a file to write.
  compile(document, policy.name, VOCABULARY);
  if (out !== undefined) writeFileSync(out, proposal(policy.name, tuning, document), { flag: 'wx' });
  const proposed = tuning.changes.length === 0 ? null : document;
  show(json, { policy: { name: policy.name, hash: policy.hash }, ...tuning, proposed }, (answer, view) => [
    ...tunedLines(view, answer),
    ...(out === undefined || proposed === null ? [] : ['', `${out}: the proposed policy`]),
  ]);
};

/** The order of a policy's sections in the presets. */
const SECTIONS = ['policy', 'enabled', 'heartbeat', 'exclude', 'signals', 'states', 'exemptions', 'plans', 'recovery'];

const inOrder = (document: object): object => {
  const place = (name: string) => (SECTIONS.includes(name) ? SECTIONS.indexOf(name) : SECTIONS.length);
  return Object.fromEntries(Object.entries(document).toSorted(([a], [b]) => place(a) - place(b)));
};

/** The proposed policy as a file, with the evidence of each change as comments. */
const proposal = (from: string, tuning: Tuning, document: object): string => {
  const comments = tuning.limits
    .filter(({ limit }) => tuning.changes.some((change) => change.limit === limit))
    .flatMap((tuned) => evidenceOf(tuned).map((line, i) => `# ${i === 0 ? '' : '  '}${line}`));
  const head = `# ${from}, with limits proposed by \`vigil tune\` from ${tuning.works} agents or runs.`;
  return `${[head, ...comments, stringify(inOrder(document), { lineWidth: 120 })].join('\n')}`;
};
