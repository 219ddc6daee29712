import { type Style, UNCHANGED, type Writing } from './canonical.ts';

/** Fields that differ between answers although nothing has changed: lower case, without - and _. */
const VOLATILE: ReadonlySet<string> = new Set(
  `timestamp timestampms time date datetime ts now asof createdat updatedat modifiedat startedat endedat finishedat completedat
   expiresat generatedat fetchedat checkedat lastupdated lastmodified lastseen servertime localtime mtime atime ctime
   duration durationms durationns durationsec durationseconds elapsed elapsedms elapsedseconds elapsedtime took tookms latency latencyms
   responsetime totaltime walltime executiontime uptime pid ppid processid
   requestid traceid spanid correlationid sessionid messageid toolcallid callid eventid uuid guid nonce etag traceparent`.split(
    /\s+/,
  ),
);
/** A number in such a field counts how often the same was tried. */
const ATTEMPTS: ReadonlySet<string> = new Set(
  'attempt attempts attemptcount attemptnumber retry retries retrycount retryattempt tries trycount restarts restartcount'.split(
    ' ',
  ),
);
/** These two kinds of fields identify an item of a list. */
const NAMES: ReadonlySet<string> = new Set(['uuid', 'guid', 'eventid', 'messageid']);
const NAMING = /(?:id|hash|sha|key)$/;
/** Such a field counts what is left of a rate limit, so it moves with each call. */
const RATE_LIMIT = /ratelimit(?:remaining|used|reset)$/;
/** The value of such a field is progress: the cursor of a page, the time left. */
const ADVANCING = /cursor|next|pagetoken|continuation|offset|^(?:eta|left|marker|position)$|remaining|timeleft/;

/** An id in such a list is that of one occurrence of an error, so it names nothing new. */
const ERRORS: ReadonlySet<string> = new Set(['error', 'errors']);

/** Whether ids name the items of the list in this field. */
const namesItems = (key: string): boolean => !ERRORS.has(key.toLowerCase());

/** Such a field is a time if its value looks like epoch seconds, and may be a count if not. */
const MAY_BE_TIME: ReadonlySet<string> = new Set(
  'created updated modified started ended finished completed expires since until epoch starttime endtime unixtime'.split(
    ' ',
  ),
);
/** The last word of a name: `polled_at` and `polledAt`, and not `format`. */
const NAMED_TIME = /(?:^|[-_])(?:at|date|time|timestamp|ts)$|[a-z\d](?:At|Date|Time|Timestamp|Ts)$/;
const isEpochSeconds = (value: unknown): boolean => typeof value === 'number' && value >= 1.5e9 && value < 2e9;

/** When a call ended, epoch milliseconds; null: unknown. */
type EndedAt = number | null;

const DAY_MS = 86_400_000;
const DATE_AND_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;

/** Epoch milliseconds of a date with a time, or of epoch seconds or milliseconds; NaN: it is neither. */
const momentOf = (value: unknown): number => {
  if (typeof value === 'string' && DATE_AND_TIME.test(value))
    return Date.parse(value.replace(',', '.').replace(' UTC', 'Z'));
  const number = typeof value === 'string' && /^\d{10}(?:\d{3})?(?:\.\d+)?$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number') return Number.NaN;
  return number >= 1e12 ? number : number >= 1e9 && number < 2e9 ? number * 1000 : Number.NaN;
};

/** What a tool prints of the present is at most a day old in any time zone, so an older time is data. */
const isOld = (value: unknown, endedAt: EndedAt): boolean => endedAt !== null && momentOf(value) < endedAt - DAY_MS;

/** How a field of an answer is written. */
const writingOf = (key: string, inList: boolean, value: unknown, endedAt: EndedAt): Writing => {
  const name = key.toLowerCase().replace(/[-_]/g, '');
  const isNaming = inList && (NAMES.has(name) || (NAMING.test(name) && !VOLATILE.has(name)));
  if (RATE_LIMIT.test(name)) return 'omitted';
  if (isNaming || ADVANCING.test(name)) return 'unchanged';
  if (ATTEMPTS.has(name) && typeof value === 'number') return 'omitted';
  const isTime = isEpochSeconds(value) && (MAY_BE_TIME.has(name) || NAMED_TIME.test(key));
  return (VOLATILE.has(name) || isTime) && !isOld(value, endedAt) ? 'omitted' : 'styled';
};

/** What follows such a label is progress. Look-behinds are bounded, for long texts. */
const CURSOR_LABEL = String.raw`(?:cursor|next|page_?token|continuation|offset|marker)\w{0,16}["':= ]{1,4}`;
const NO_CURSOR = String.raw`(?<!${CURSOR_LABEL}[\w-]{0,36})`;
const NOT_LEFT = String.raw`(?<!\b(?:eta|left|remaining)["':= ]{1,4}[\d.:]{0,16})`;
const NOR_LEFT = String.raw`(?! (?:left|remaining|to go|of)\b| ?/ ?\d)`;
/** Such a clock shows a position in a medium. ffmpeg writes it with hundredths of a second. */
const NOT_POSITION = String.raw`(?<!\b(?:out_?time|pos|position|playhead|timecode)["':= ]{1,4})(?<!\btime=(?=\d\d:\d\d:\d\d\.\d\d\b))`;
/** Ten digits are also a count of bytes, so epoch seconds need a label. */
const TIME_LABEL = String.raw`(?<=(?:\b|_)(?:(?:created|updated|modified|started|ended|finished|expires)?_?at|created|updated|modified|expires|since|until|time|timestamp|date|ts|epoch|mtime|now)["':= ]{1,4})`;
const DURATION_LABEL = String.raw`(?<=\b(?:elapsed|duration|took|latency|runtime|uptime|time_(?:total|connect|appconnect|namelookup|pretransfer|starttransfer))(?:_?(?:ms|sec|seconds))?["':= ]{1,4})`;
const ID_LABEL = String.raw`(?<=\b(?:request|trace|span|correlation|session|run|job|invocation|execution|event|message)[ _-]?id["':= ]{1,4})`;
const HASH_LABEL = String.raw`(?<=\b(?:commit|sha|sha1|sha256|rev|revision|digest)["':= ]{1,4})`;
/** A seed with one or two digits may be the next one of a row. */
const SEED_LABEL = String.raw`(?<=(?:\b|_)seed["':= ]{1,4})`;
/** Kubernetes makes the ends of names of these characters. */
const OF_POD = '[bcdfghjklmnpqrstvwxz2456789]';
const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*';

/** Hashes of content: checksums, and commits in the forms of git. Another one shows other content. */
const CONTENT = [
  String.raw`(?<=(?:^|\n))[0-9a-f]{32,128}(?= [ *]\S)`,
  String.raw`(?<=\b(?:md5|sha\d|blake)[\w-]{0,12} ?\([^)\n]{1,200}\) ?= ?)[0-9a-f]{32,128}\b`,
  String.raw`^[0-9a-f]{40}(?=\s*$)`,
  String.raw`(?<=(?:^|\n))[0-9a-f]{40}(?=[\t ]+(?:refs/|HEAD\b))`,
  String.raw`(?<=(?:^|\n)\[)[0-9a-f]{40}(?=\] )`,
  String.raw`(?<=\bHEAD is now at )[0-9a-f]{7,40}\b`,
  String.raw`\b[0-9a-f]{7,40}\.\.\.?[0-9a-f]{7,40}\b`,
  String.raw`(?<=(?:^|\n)commit )[0-9a-f]{40}(?=(?: \([^\n]{1,200}\))?\n(?:Merge|Author|tree|parent)\b)`,
].join('|');

/** Parts of a text that differ from run to run although nothing has changed, and in the first group those that stay. */
const VARYING = new RegExp(
  [
    `(${CONTENT})`,
    // ids and hashes: UUIDs, ULIDs, hexadecimal numbers, and tokens with a label or a known prefix
    String.raw`\b${NO_CURSOR}[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}`,
    String.raw`\b${NO_CURSOR}01[0-9a-hjkmnp-tv-z]{24}\b`,
    String.raw`(?<=[a-z0-9]-)${OF_POD}{6,10}-${OF_POD}{5}\b`,
    // an address in memory; a shorter figure may grow, as a coverage does
    String.raw`(?:\b0x[0-9a-f]{7,}|(?<=\b(?:at|object|address|addr|pointer|ptr)[:= ]{1,2})0x[0-9a-f]+)\b`,
    String.raw`\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)${NO_CURSOR}[0-9a-f]{7,}\b`,
    String.raw`${HASH_LABEL}[0-9a-f]{7,64}\b`,
    String.raw`(?<=\[[\w/.-]{1,60} (?:\(root-commit\) )?)[0-9a-f]{7,40}(?=\])`,
    String.raw`${ID_LABEL}(?=\w*\d)(?=\w*[a-z])[\w-]{6,}`,
    String.raw`\b(?:req|msg|evt|run|call|job|sess|resp|trace|chatcmpl)[_-](?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{8,}\b`,
    // dates with times, epoch seconds and milliseconds; a date alone seldom is the present one if it changes
    String.raw`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?`,
    String.raw`\b\d{4}-\d\d-\d\dT\d\d(?<separator>[_-])\d\d\k<separator>\d\d(?:[_.-]\d{3,})?Z?`,
    String.raw`\b\d{8}T\d{6}(?:\.\d+)?Z?\b`,
    String.raw`\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? (?:\d\d? [a-z]{3}|[a-z]{3} +\d\d?)\b(?: \d{4}\b)?`,
    String.raw`\b${MONTH} +\d\d?,? +\d\d:\d\d\b(?!:)`,
    String.raw`\b${NOT_LEFT}${NOT_POSITION}\d\d?:\d\d:\d\d(?:[.,]\d+)?(?![.,]?\d)${NOR_LEFT}`,
    String.raw`\b1[5-9]\d{8}(?:\d{3}(?:\.\d+)?|\.\d+)\b`,
    String.raw`\b(?=1[5-9])${TIME_LABEL}1[5-9]\d{8}\b`,
    String.raw`(?<=(?:^|\n)\[)1[5-9]\d{8}(?=\])`,
    // durations
    String.raw`\b${NOT_LEFT}(?:\d+h ?)?\d+m ?\d+(?:\.\d+)?s\b${NOR_LEFT}`,
    String.raw`\b${NOT_LEFT}\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?|h|hours?)\b${NOR_LEFT}`,
    String.raw`${DURATION_LABEL}\d+(?:\.\d+)?\b`,
    // counts of restarts by kubectl and systemd, of a rate limit and of a cache in headers, and frames of a spinner
    String.raw`\b\d+(?= \((?:\d+[smhd])+ ago\))`,
    String.raw`(?<=\brestart counter is at )\d+`,
    String.raw`(?<=\bratelimit-(?:remaining|used|reset)["':= ]{1,4})\d+`,
    String.raw`(?<=\nage: )\d+(?=\r?\n|$)`,
    '[\u2801-\u28ff]',
    // seconds before a line: of a step of docker build, and of the kernel since its start
    String.raw`(?<=(?:^|\n)#\d{1,3} )\d+\.\d+(?= )`,
    String.raw`(?<=(?:^|\n)\[ {0,5})\d+\.\d{6}(?=\] )`,
    // addresses, ports and processes
    String.raw`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b`,
    String.raw`(?<=\[::1?\]:)\d+\b`,
    String.raw`\b(?:localhost:|ports?["':= ]{1,4}|pids?["':=# ]{1,4}|process )\d+\b(?! of\b)`,
    String.raw`(?<=\b[a-z][\w.-]{0,40}\[)\d{4,7}(?=\]:)`,
    String.raw`${SEED_LABEL}-?\d{3,}\b${NOR_LEFT}`,
    // one more attempt, without the number of all
    String.raw`\b(?<=\b(?:attempt|retry) #?)\d+\b(?! ?(?:of\b|/))`,
    String.raw`(?<=(?:^|\n)\[\d{1,3}\] )\d{2,7}(?=\n|$)`,
    String.raw`(?:/var/folders|\\AppData\\Local\\Temp)[/\\][^\s"'\`:,;)]+`,
    String.raw`\btmp[.\-_]?[a-z0-9_]{6,}\b`,
  ].join('|'),
  'gi',
);

/** Where a failure points to, and which attempt it was. A figure after another colon is a count. */
const POSITIONS =
  /(?<=\.[a-z]\w{0,4}:)\d+(?::\d+)?\b|\b(line|lines|col|column|row|char|offset|position|attempt|try|retry) #?\d+/gi;

const LONG_HEX = /\b(?:0x)?[0-9a-f]{8,}\b/gi;
const DIGITS = /\d+/g;

const TEMPORARY = /\/(?:var\/)?tmp\/[^\s"'`:,;)]+/g;
/** A name with figures in it, or with small and capital letters as `mktemp` makes them. */
const MADE_UP = /\d|(?=\w*[a-z])(?=\w*[A-Z])[A-Za-z]{6,}$/;
/** The last name of a path may be the next one of a row: part-12.csv. */
const NUMBERED = /^[A-Za-z]+[-_.]?\d+(?:\.[a-z]+)*$/;

const withoutMadeUp = (path: string): string => {
  const names = path.split('/');
  const isMadeUp = (name: string, i: number) => MADE_UP.test(name) && !(i === names.length - 1 && NUMBERED.test(name));
  return names.map((name, i) => (isMadeUp(name, i) ? '#' : name)).join('/');
};

/** A long token of letters and digits: an id in base 62 or 64, a path or a long name. A longer one is content, such as a picture. */
const TOKEN = /(?<![\w+/-])[\w+/-]{20,100}(?![\w+/-])={0,2}/g;
const AFTER_CURSOR_LABEL = new RegExp(`${CURSOR_LABEL}$`, 'i');
const LABEL_LENGTH = 40;

/** Small letters, capitals and digits take turns in an id at random. In a name of words they seldom do. */
const isRandom = (token: string): boolean => {
  const turns = token.match(/[a-z](?=[A-Z\d])|[A-Z](?=[a-z\d])|\d(?=[A-Za-z])/g)?.length ?? 0;
  return turns >= 0.45 * token.length && /[a-z]/.test(token) && /[A-Z]/.test(token) && /\d/.test(token);
};

const withoutRandom = (token: string, at: number, text: string): string =>
  isRandom(token) && !AFTER_CURSOR_LABEL.test(text.slice(Math.max(0, at - LABEL_LENGTH), at)) ? '#' : token;

/** Colours and other control sequences of a terminal, and blanks at the end of a line or of the text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences begin with one.
const INVISIBLE = /\u001b\[[0-9;:?]{0,32}[@-~]|[ \t]{1,1000}(?=\r?\n|$)|\s{1,1000}$/g;

const stable = (text: string, endedAt: EndedAt): string =>
  text
    .replace(INVISIBLE, '')
    .replace(TEMPORARY, withoutMadeUp)
    .replace(TOKEN, withoutRandom)
    .replace(VARYING, (found, content?: string) => content ?? (isOld(found, endedAt) ? found : '#'));

/** Two lines or more that are nothing but an address, an id or a hash. */
const ITEM = String.raw`(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,64})`;
const ITEMS = new RegExp(String.raw`^(?:${ITEM}\r?\n)+${ITEM}\s*$`, 'i');

/** The lines of such a list, in one order, because a name server gives its addresses in another one each time. */
const inOrder = (text: string): string => text.trim().split(/\r?\n/).sort().join('\n');

/** Epoch milliseconds of this time look like no other number. */
const isEpochMs = (number: number | bigint): boolean => number >= 1.5e12 && number < 2e12;

/** Figures stay: a counter that moves is progress, and so are fewer failures. */
export const answer = (endedAt: EndedAt): Style => ({
  text: (text) => (ITEMS.test(text) ? inOrder(text) : stable(text, endedAt)),
  number: (number) => (isEpochMs(number) && !isOld(number, endedAt) ? '0' : String(number)),
  field: (key, inList, value) => writingOf(key, inList, value, endedAt),
  namesItems,
  readsJson: true,
});

export const failure = (endedAt: EndedAt): Style => ({
  ...answer(endedAt),
  text: (text) => stable(text, endedAt).replace(POSITIONS, '#'),
});

/** Without all figures, so that the time of the call is of no use. */
export const masked: Style = {
  ...answer(null),
  text: (text) => stable(text, null).replace(LONG_HEX, '#').replace(DIGITS, '#'),
  number: () => '0',
  field: (key, inList, value) => (writingOf(key, inList, value, null) === 'omitted' ? 'omitted' : 'styled'),
};

/** The words with which a model explains a command, and the command's limit of time, do not make another call. */
const BESIDE_COMMAND: ReadonlySet<string> = new Set([
  ...['description', 'explanation', 'justification'],
  ...['timeout', 'timeout_ms'],
]);

/** Such an argument names the call itself and not what it is about: lower case, without - and _. */
const OF_CALL: ReadonlySet<string> = new Set(
  'nonce idempotencykey clienttoken clientrequestid toolcallid traceparent'.split(' '),
);
const isOfCall = (key: string): boolean => OF_CALL.has(key.toLowerCase().replace(/[-_]/g, ''));

/** Parts of a command that change nothing: the ids of a request in its headers, a time against caches, and a comment. */
const WITHOUT_EFFECT = new RegExp(
  [
    String.raw`\b(?:x-)?(?:(?:request|correlation|trace)-id|idempotency-key|traceparent|amzn-trace-id): ?[\w=-]+`,
    String.raw`(?<=[?&](?:_|t|ts|timestamp|nonce|cb)=)1[5-9]\d{8}(?:\d{3})?(?![\w.])`,
    String.raw`[ \t]+# [^'"\n]*$`,
  ].join('|'),
  'gim',
);

export const argument: Style = { ...UNCHANGED, field: (key) => (isOfCall(key) ? 'omitted' : 'styled') };

/** The arguments of a shell command. */
export const command: Style = {
  ...argument,
  text: (text) => text.replace(WITHOUT_EFFECT, ''),
  field: (key) => (BESIDE_COMMAND.has(key) || isOfCall(key) ? 'omitted' : 'styled'),
  namesItems,
};
