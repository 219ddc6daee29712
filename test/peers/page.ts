import type { Answer } from './answer.ts';
import type { Suite } from './peer.ts';

type Answered = { readonly suite: Suite; readonly answers: readonly Answer[] };

/** The page: what each suite expects, and Vigil's answer. */
export const pageOf = (all: readonly Answered[]): string => {
  const rows = all.map(({ suite, answers }) => rowOf(suite.name, answers));
  const total = rowOf(
    'all',
    all.flatMap(({ answers }) => answers),
  );
  return [INTRODUCTION, ...HEAD, ...rows, total, '', ...all.flatMap(section)].join('\n');
};

const INTRODUCTION = `# Peers

Written by test/peers. It replays the tests of other projects' stuck detectors through the fold that judges agents. Each suite runs under a policy with
its own thresholds. The cases are restated as data in Vigil's words; each suite has its file, commit and
licence. Where a suite gives its calls no results, all results are the same. A run fails that disagrees without a reason below,
or agrees where one is given.

Outside: tests of other things than detection by the actions of agents. Differ: Vigil's answer differs, for the given reason.
`;
const HEAD = ['| suite | tests | outside | replayed | agree | differ |', '| --- | --- | --- | --- | --- | --- |'];

const rowOf = (name: string, answers: readonly Answer[]): string => {
  const replayed = answers.filter(({ outside }) => outside === null);
  const agree = replayed.filter(({ agrees }) => agrees).length;
  const outside = answers.length - replayed.length;
  const figures = [answers.length, outside, replayed.length, agree, replayed.length - agree];
  return `| ${name} | ${figures.join(' | ')} |`;
};

const section = ({ suite, answers }: Answered): string[] => {
  const differ = answers.flatMap(({ name, differs, theirs, ours }) =>
    differs === null ? [] : [`- **${name}**: expected ${theirs}, Vigil: ${ours}. ${sentence(differs)}`],
  );
  const outside = [...Map.groupBy(answers, ({ outside: why }) => why)].flatMap(([why, those]) =>
    why === null ? [] : [`- ${those.length}: ${why}.`],
  );
  return [
    `## ${suite.name}`,
    '',
    `${suite.source}.`,
    '',
    ...suite.read,
    '',
    '```yaml',
    `${suite.policy.trimEnd()}`,
    '```',
    '',
    ...listed('Differ:', differ),
    ...listed('Outside:', outside),
  ];
};

const listed = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [title, '', ...lines, ''];

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
