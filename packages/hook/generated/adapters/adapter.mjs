// Generated from packages/adapters/src/adapter.ts by `npm run generate`: for Node 18, which reads no TypeScript.
/** The command line of a client: how it was started, or how it is to be started. */
/** What a command line starts. */
/** One hook event as the client sent it. */
/** A text for the agent, from an order. */
/** What the answer of a hook can do to the client, by event. */
/** A file in which the client keeps a session. `agent`: the client's id of a sub-agent; null: the session's own agent. */
/** What follows from an answer with so many texts, once it is printed. `at`: epoch milliseconds */
export const eventsOfAnswer = (
  { abilities }             ,
  payload             ,
  texts        ,
  at        ,
)                          =>
  texts > 0 && abilities(payload).continuesTurn ? [{ kind: 'turn_started', at, agent: null }] : [];
/** Where settings are looked for. */
/** How a hook is written into the settings of a client. */
/** The lines of a terminal as a person sees them, top to bottom, and the cursor (column and row from 0). */
/** A limit that refused a request, as a screen shows it. `retryInMs`: from when it is shown until the next try; null: unknown. */
/** What the screen of a client means. */
/** How a text reaches the input line of a client. Each part is a write of its own. */
/** How a session that hangs is interrupted: a key is typed, a signal is sent to its process group, or not at all. */
/** Reads the output stream of a headless client, line by line. The state between lines is plain JSON. */
/**
 * What the file of a session has that no hook reports: tokens, context and cost, interrupts, errors, exit codes of commands. Calls and
 * the last answer of a turn stand there, too: a hook that reports them may be lost. The state between lines is plain JSON. Lines that
 * were written before a hook started are folded before its events: the first report of the end of a call counts.
 */
/**
 * Reads a whole file of a session, where no hook has reported it: what the transcript reader reads, and turns, calls, their ends and
 * sub-agents. Events come in the order of the file, not of their times.
 */
/** All that Vigil knows of one coding agent's client. What knows a client is in its adapter and nowhere else. */
