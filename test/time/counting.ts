import { createConnection } from 'node:net';

/**
 * An agent that reports a call and its progress, five times a second: `progress_indicator` is the time of the report,
 * epoch milliseconds.
 */
const socket = createConnection(process.env.VIGIL_SOCKET ?? '');
socket.on('error', () => process.exit(1)).resume();

let CALLS = 0;
setInterval(() => {
  CALLS += 1;
  const now = Date.now();
  const call = { call_id: `c${CALLS}`, tool: 'count', args_hash: `a${CALLS}`, result_hash: `r${CALLS}`, ended_at: now };
  const tool_calls = CALLS % 5 === 0 ? [call] : [];
  socket.write(`${JSON.stringify({ activity: 'working', progress_indicator: String(now), tool_calls })}\n`);
}, 200);
