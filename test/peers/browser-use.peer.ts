import { act, hash, is, LOOK, outside, type PeerCase, replay, type Step, type Suite, times } from './peer.ts';

const NO = is('HEALTHY');
const AT_5 = is('DEGRADED');
const AT_8 = is('STUCK');
const AT_12 = is('FAILING');

const search = (query: string) => ({ tool: 'search', value: { query } });
const input = (index: number, text: string, clear?: boolean) => ({ tool: 'input', value: { index, text, clear } });
const click = (index: number) => ({ tool: 'click', value: { index } });
const navigate = (url: string) => ({ tool: 'navigate', value: { url: `https://${url}` } });
const scroll = (down: boolean, index: number | null) => ({ tool: 'scroll', value: { down, index } });
const done = ({ tool, value }: { readonly tool: string; readonly value: unknown }): Step => act({ tool, args: value });
const searched = (n: number): Step[] => times(n, () => done(search('site:x answers')));

/** The page after a step, as the result of a call that reads it. */
const page = (text: string, elements = 50, url = 'https://a'): { readonly value: object } => ({
  value: { url, text, elements },
});
const seen = (text: string): Step => act({ tool: 'page', result: page(text).value });
const pages = (n: number): Step[] => times(n, () => seen('same'));

const AS_GIVEN = {
  differs: 'arguments are compared as they are; a client that can normalise two equal ones hashes the normal form',
};
const WORDS = 'the words of a nudge: those are the policy’s';
const WINDOW = 'the length of a window: ours has none, what is new ends a row';

const hashing: readonly PeerCase[] = [
  hash('a search in another order', 'call', 'alike', [search('a b'), search('b a')], AS_GIVEN),
  hash('a search in capitals', 'call', 'alike', [search('A b'), search('a b')], AS_GIVEN),
  hash('a search with other punctuation', 'call', 'alike', [search('"a" b'), search('a, b')], AS_GIVEN),
  hash('a search with a word twice', 'call', 'alike', [search('a a b'), search('a b')], AS_GIVEN),
  hash('another search', 'call', 'different', [search('a'), search('b')]),
  hash('one element clicked', 'call', 'alike', [click(5), click(5)]),
  hash('another element clicked', 'call', 'different', [click(5), click(12)]),
  hash(
    'the same text into an element, cleared or not',
    'call',
    'alike',
    [input(3, 'a', true), input(3, 'a', false)],
    AS_GIVEN,
  ),
  hash('another text into an element', 'call', 'different', [input(3, 'a'), input(3, 'b')]),
  hash('one address', 'call', 'alike', [navigate('a/1'), navigate('a/1')]),
  hash('another path', 'call', 'different', [navigate('a/1'), navigate('a/2')]),
  hash('another host', 'call', 'different', [navigate('a/1'), navigate('b/1')]),
  hash('another direction', 'call', 'different', [scroll(true, null), scroll(false, null)]),
  hash('another element scrolled', 'call', 'different', [scroll(true, 5), scroll(true, 10)]),
  hash('one element scrolled', 'call', 'alike', [scroll(true, 5), scroll(true, 5)]),
  hash('other kinds', 'call', 'different', [click(5), scroll(true, null), search('a')]),
];

const VARIED = [click(1), scroll(true, null), click(2), search('something'), navigate('a')].map(done);

const detecting: readonly PeerCase[] = [
  replay('all different', VARIED, [NO]),
  replay('five times', searched(5), [{ ...AT_5, contains: '5 times' }]),
  replay('four times', searched(4), [NO]),
  replay('eight times', searched(8), [{ ...AT_8, contains: '8 times' }]),
  replay('twelve times', searched(12), [{ ...AT_12, contains: '12 times' }]),
  ...outside(WORDS, 'the last nudge does not end the task', 'the first nudge does not state that it is impossible'),
  replay(
    'what was long ago',
    [...times(5, () => done(click(7))), LOOK, ...times(10, (i) => done(click(100 + i)))],
    [AT_5, NO],
  ),
  replay(
    'one search in five orders',
    ['a b c', 'c a b', 'b a c', 'c b a', 'a c b'].map((q) => done(search(q))),
    [AT_5],
    AS_GIVEN,
  ),
  replay('pages that change', ['1', '2', '3'].map(seen), [NO]),
  replay('six pages alike', pages(6), [AT_5]),
  replay('five pages alike', pages(5), [NO], {
    differs: 'they count pages equal to the previous one, Vigil counts equal pages: five',
  }),
  replay('pages alike, then another', [...pages(3), LOOK, seen('other')], [NO, NO]),
  replay('eight clicks, then six pages alike', [...times(8, () => done(click(7))), LOOK, ...pages(6)], [AT_8, AT_8], {
    differs:
      'a page that has not been seen is something new, and ends the row of clicks; the pages are a row of their own',
  }),
  hash('the same page', 'result', 'alike', [page('hello'), page('hello')]),
  hash('another text', 'result', 'different', [page('hello'), page('goodbye')]),
  hash('another address of the page', 'result', 'different', [page('hello'), page('hello', 50, 'https://b')]),
  hash('another count of elements', 'result', 'different', [page('hello'), page('hello', 51)]),
  replay('the agent is nudged at five', searched(5), [AT_5]),
  replay('switched off', searched(8), [NO], { policy: 'policy: off\nsignals: {}\nstates: {}\n' }),
  replay('nothing is reported of different actions', VARIED.slice(0, 3), [NO]),
  ...outside(WINDOW, 'the window is a setting', 'the window is 20'),
];

export const browserUse: Suite = {
  name: 'browser-use',
  source:
    'browser-use/browser-use `tests/ci/test_action_loop_detection.py` at 85ddbfed (as far as it is the same in 37560339, which was read), MIT',
  policy: `policy: browser-use
signals:
  five:   { is: repeated_calls, times: 5, max_cycle: 1 }
  eight:  { is: repeated_calls, times: 8, max_cycle: 1 }
  twelve: { is: repeated_calls, times: 12, max_cycle: 1 }
states:
  FAILING: [twelve]
  STUCK: [eight]
  DEGRADED: [five]
`,
  read: ['Its three nudges are DEGRADED, STUCK and FAILING. A page after a step is the result of a look at it.'],
  cases: [...hashing, ...detecting],
};
