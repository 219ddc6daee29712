import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, note, type Scripts, send, untilGo, work, workOn } from '../craft.ts';

/** Records all text typed at its terminal, with its activity. */
let doing = 'nothing';
const listenAtTheTerminal = (): void =>
  void createInterface({ input: process.stdin }).on('line', (line) => note(`typed while ${doing}: ${line}`));

/** Agents that get typed text while they are busy. */
export const meddled: Scripts = {
  isInACall: async () => {
    listenAtTheTerminal();
    doing = 'it calls';
    work();
    const running = { call_id: 'build', tool: 'Bash', args_hash: 'make', started_at: Date.now() };
    send({ activity: 'working', tool_calls: [{ ...running, outcome: 'running', deadline_at: Date.now() + 600_000 }] });
    await untilGo();
    doing = 'it is idle';
    call({ ...running, result_hash: 'built', mutating: true });
    process.stdout.write('> ');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    return workOn();
  },
  /** shows nothing until it has begun; then it is at its prompt */
  startsSlowly: async () => {
    listenAtTheTerminal();
    doing = 'it starts';
    await untilGo();
    doing = 'it is idle';
    process.stdout.write('> ');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    return workOn();
  },
  asksAQuestion: async () => {
    listenAtTheTerminal();
    doing = 'it asks';
    work();
    // Its report has been read by then, even on a busy machine.
    await sleep(3000);
    process.stdout.write('Overwrite the file? ');
    await untilGo();
    doing = 'it is idle';
    process.stdout.write('kept\n> ');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    return workOn();
  },
};
