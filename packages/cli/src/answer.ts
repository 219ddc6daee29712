import { setTimeout as pause } from 'node:timers/promises';
import type { InboxItem, RequestRow } from '@vigil/read-model';
import type { Client } from './client.ts';
import { path, type Request, type WriteOptions, write, writeAndShow } from './commands/control/options.ts';
import { Refusal } from './errors.ts';
import { plain } from './render/plain.ts';
import { dashboard, endUnwell, print, untilStopped } from './terminal.ts';

const PATIENCE_MS = 30_000;
const LOOK_MS = 200;

/** When the question of a case or a task was put; null: of others, the id names the question. Throws Refusal where none is open. */
const sinceOf = async (item: string): Promise<number | null> => {
  if (!/^(case|task)\//.test(item)) return null;
  const { inbox } = await dashboard().get<{ inbox: readonly InboxItem[] }>('/v1/inbox');
  const found = inbox.find(({ id }) => id === item);
  if (found === undefined)
    throw new Refusal(
      `${item} waits for no answer: it has been answered, is over, or never was. \`vigil inbox\` shows what waits.`,
    );
  return found.since;
};

/** What an item of the inbox is answered with. `since`: when the question was put. Throws Refusal for another id. */
export const commandFor = (
  item: string,
  option: string,
  since: number | null,
): { readonly command: object; readonly outcome: string } => {
  const [kind, ...rest] = item.split('/');
  const id = rest.join('/');
  const seen = since === null ? {} : { askedAt: since };
  if (kind === 'request' && id !== '')
    return { command: { kind: 'answer_request', requestId: id, option }, outcome: 'vigil inbox' };
  if (kind === 'case' && id !== '')
    return {
      command: { kind: 'decide_case', caseId: id, decision: option, ...seen },
      outcome: `vigil case show ${id}`,
    };
  if (kind === 'task' && id !== '')
    return {
      command: { kind: 'review_task', taskId: id, decision: option, ...seen },
      outcome: `vigil task show ${id}`,
    };
  if (item === 'brake' && option === 'lift') return { command: { kind: 'lift_brake' }, outcome: 'vigil health' };
  throw new Refusal(
    `${JSON.stringify(item)} with ${JSON.stringify(option)} is not answered here: \`vigil inbox\` shows the command of each option.`,
  );
};

/** Answers an item of the inbox. That of a request is shown with its outcome. */
export const answerItem = async (item: string, option: string, options: WriteOptions): Promise<void> => {
  const { command, outcome } = commandFor(item, option, await sinceOf(item));
  const request: Request = { requested: `the answer ${option} to ${item}`, outcome };
  if (!('requestId' in command)) return write(command, request, options);
  const { eventId } = await writeAndShow(command, options, () => ({ ...request, outcome: null }));
  if (options.json !== true) await showOutcome(dashboard(), item.slice('request/'.length), eventId);
};

/** What became of the answer that a command wrote; null: it is not known yet. */
export const outcomeOf = (row: RequestRow, commandId: string): { isApplied: boolean; text: string } | null => {
  if (row.refusedCommand === commandId)
    return { isApplied: false, text: `The answer changes nothing (${row.refusedReason}): ${row.refusedDetail}.` };
  if (row.settledCommand === commandId && row.settled === 'answered')
    return { isApplied: true, text: `${row.settledBy} has answered ${row.settledOption}; the hook returns it.` };
  return null;
};

const showOutcome = async (client: Client, requestId: string, commandId: string): Promise<void> => {
  const stop = untilStopped();
  for (let waited = 0; waited < PATIENCE_MS && !stop.aborted; waited += LOOK_MS) {
    const outcome = outcomeOf(await client.get<RequestRow>(path('requests', requestId)), commandId);
    if (outcome !== null) {
      if (!outcome.isApplied) endUnwell();
      return print([plain(outcome.text)]);
    }
    await pause(LOOK_MS, undefined, { signal: stop }).catch(() => {});
  }
  if (!stop.aborted) endUnwell();
  print(['Nothing is known of it yet. What becomes of it: vigil inbox']);
};
