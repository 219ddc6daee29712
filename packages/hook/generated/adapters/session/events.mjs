// Generated from packages/adapters/src/session/events.ts by `npm run generate`: for Node 18, which reads no TypeScript.
/** Tokens, context and money of one agent so far, as its client counts them. Null and empty: unknown. */
/** The tokens of one answer of a model. `requestId`: an answer that is reported twice counts once. */
/**
 * One fact about a session of a coding agent, in words that belong to no client. Adapters translate hook payloads, output
 * streams and telemetry into these facts; `observe` in session.ts folds them into reports.
 */
/** What a file of a session shows in case a hook is lost. A reader of the file alone reports calls and turns itself. */
export const isSeen = ({ kind }             )          =>
  kind === 'call_seen' || kind === 'result_seen' || kind === 'end_seen' || kind === 'last_answer_seen';
/** `at`: epoch milliseconds on the host of the client. `agent`: the client's id of a sub-agent; null: the session's own agent. */
