import { createConnection } from 'node:net';

/**
 * An agent that reports a call and its progress, five times a second: `progress_indicator` is the time of the report,
 * epoch milliseconds.
 */
const socket = createConnection(process.env.VIGIL_SOCKET ?? '');
socket.on('error', () => process.exit(1)).resume();

let calls = 0;
setInterval(() => {
  calls += 1;
  const now = Date.now();
  const call = { call_id: `c${calls}`, tool: 'count', args_hash: `a${calls}`, result_hash: `r${calls}`, ended_at: now };
  const tool_calls = calls % 5 === 0 ? [call] : [];
  socket.write(`${JSON.stringify({ activity: 'working', progress_indicator: String(now), tool_calls })}\n`);
}, 200);
