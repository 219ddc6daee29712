import { type Limit, limitName, type Tried, type Tuned, type Tuning } from '@vigil/health/tuning';
import { spell } from '@vigil/policy';
import { type Column, table, type View } from '../render/view.ts';

const inSeconds = (seconds: number): string => spell(Math.round(seconds * 1000));

const valueText = ({ unit }: Pick<Limit, 'unit'>, value: number): string =>
  unit === 'duration' ? spell(value) : String(value);

/** `12 min, 3400 tokens, 20 calls`; unknown amounts are left out */
const amountText = ({ seconds, tokens, calls }: Tried['cost']): string => {
  const known = [
    ...(seconds > 0 ? [`${Math.round(seconds / 60)} min`] : []),
    ...(tokens > 0 ? [`${tokens} tokens`] : []),
    ...(calls > 0 ? [`${calls} calls`] : []),
  ];
  return known.length === 0 ? '-' : known.join(', ');
};

type Row = { readonly tuned: Tuned; readonly tried: Tried };

const markOf = ({ tuned, tried }: Row): string => {
  if (tried === tuned.proposed) return 'proposed';
  return tried.value === tuned.limit.value ? 'now' : '';
};

const COLUMNS: readonly Column<Row>[] = [
  { title: 'LIMIT', of: ({ tuned: { limit } }) => limitName(limit) },
  { title: 'STATE', of: ({ tuned: { limit } }) => limit.state },
  { title: 'VALUE', of: ({ tuned: { limit }, tried }) => valueText(limit, tried.value) },
  { title: '', of: markOf },
  { title: 'FINDINGS', of: ({ tried }) => String(tried.findings) },
  { title: 'WRONG', of: ({ tried }) => String(tried.wrong) },
  { title: 'WOULD HAVE COST', of: ({ tried }) => amountText(tried.cost) },
  { title: 'RIGHT', of: ({ tried }) => String(tried.right) },
  { title: 'WOULD HAVE SAVED', of: ({ tried }) => amountText(tried.saved) },
  { title: 'OPEN', of: ({ tried }) => String(tried.open) },
];

/** Rows on each side of the present and the proposed value. */
const NEIGHBOURS = 2;

/** The values around the present one and up to the proposed one. */
const rowsOf = (tuned: Tuned): readonly Row[] => {
  const at = (one: Tried | null) => tuned.tried.findIndex(({ value }) => value === one?.value);
  const shown = [at(tuned.present), at(tuned.proposed)].filter((i) => i >= 0);
  const [first, last] = [Math.min(...shown) - NEIGHBOURS, Math.max(...shown) + NEIGHBOURS];
  return tuned.tried.flatMap((tried, i) => (i < first || i > last ? [] : [{ tuned, tried }]));
};

const hasFindings = ({ tried }: Tuned): boolean => tried.some(({ findings }) => findings > 0);

/** What was judged, each limit with the values around it, and the proposals with their evidence. */
export const tunedLines = (
  view: View,
  tuning: Tuning & { readonly policy: { readonly name: string } },
): readonly string[] => {
  const { policy, works, successful, seconds, limits, unfed, before, after, changes } = tuning;
  const reached = limits.filter(hasFindings);
  const quiet = limits.filter((one) => !hasFindings(one));
  const names = (some: readonly Limit[]) => some.map(limitName).join(', ');
  return [
    `${works} agents or runs${successful === 0 ? '' : `, ${successful} of them successful`}, ${Math.round(seconds / 60)} min in all, judged under ${policy.name}.`,
    'Wrong: the agent continued by itself, or its run was successful. What it would have cost is the work until then. Right: it lasted to',
    'the end of the record. What it would have saved is what followed. Open: Vigil acted on it, or a repetition ended by itself.',
    '',
    ...table(view, COLUMNS, reached.flatMap(rowsOf), 'No limit has a finding, at any value.'),
    ...(reached.every(({ tried }) => tried.every(({ right }) => right === 0))
      ? [
          '',
          'No agent in this history stayed stuck to its end: it shows which limits are too short, and not which are too long.',
        ]
      : []),
    ...(quiet.length === 0 ? [] : ['', `Without a finding at any value: ${names(quiet.map(({ limit }) => limit))}.`]),
    ...(unfed.length === 0 ? [] : [`Not in this history, so not judged: ${names(unfed)}.`]),
    ...limits
      .filter(({ limit }) => changes.some((change) => limitName(change.limit) === limitName(limit)))
      .flatMap((one) => ['', ...evidenceOf(one)]),
    '',
    changes.length === 0
      ? `No change is proposed. ${policy.name}: ${summary(before)}.`
      : `${policy.name} now: ${summary(before)}. With the proposed limits: ${summary(after)}.`,
  ];
};

const summary = ({ findings, wrong, wrongWorks, right, cost, saved }: Tried): string =>
  `${findings} findings of STUCK or FAILING, ${wrong} wrong (in ${wrongWorks} agents or runs; ${amountText(cost)}), ${right} right (${amountText(saved)})`;

/** Why a limit is to change, in sentences. */
export const evidenceOf = ({ limit, present, proposed, durations, isEnough, judged }: Tuned): readonly string[] => {
  if (proposed === null) return [];
  const name = limitName(limit);
  const value = (tried: Tried) => valueText(limit, tried.value);
  const tools = present.tools.slice(0, 3).map(({ tool, findings }) => `${findings} in ${tool}`);
  const of = durations;
  return [
    `${name}: ${value(present)} → ${value(proposed)}.`,
    `At ${value(present)} ${present.wrong} of ${present.findings} findings were wrong, in ${present.wrongWorks} of ${judged} agents or runs${tools.length === 0 ? '' : `: ${tools.join(', ')}`}.`,
    ...(present.longest === null
      ? []
      : [`The longest of them continued by itself ${inSeconds(present.longest)} after the limit.`]),
    ...(of === null
      ? []
      : [
          `${of.calls} calls of ${of.tool} declared no deadline: half of them took at most ${inSeconds(of.median)}, 99 of 100 at most ${inSeconds(of.p99)}, the longest ${inSeconds(of.longest)}.`,
        ]),
    `At ${value(proposed)} ${proposed.wrong} of ${proposed.findings} ${proposed.wrong === 1 ? 'is' : 'are'} wrong, and ${proposed.right} are right (at ${value(present)}: ${present.right}).`,
    ...(isEnough ? [] : ['Larger values were not tried: consider to remove this signal from the states.']),
  ];
};
