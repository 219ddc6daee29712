/** The answer of `/ready`, as the chassis of a service writes it. */
type Answer = { readonly because?: unknown; readonly parts?: unknown };

const parsed = (body: string): Answer => {
  try {
    return (JSON.parse(body) ?? {}) as Answer;
  } catch {
    return {};
  }
};

const MOST_CHARACTERS = 200;

/** Why a service that has answered is not ready, in words. */
export const notReadyText = (status: number, body: string): string => {
  const { because, parts } = parsed(body);
  if (because === 'starting' || because === 'stopping') return `not ready: it is ${because}`;
  const waiting = Object.entries((parts ?? {}) as object).flatMap(([name, isReady]) => (isReady ? [] : [name]));
  if (waiting.length > 0) return `not ready: not connected or not caught up (${waiting.join(', ')})`;
  const text = body.trim().slice(0, MOST_CHARACTERS);
  return `not ready: status ${status}${text === '' ? '' : `: ${text}`}`;
};

type Failure = {
  readonly name?: string;
  readonly code?: string | number;
  readonly message: string;
  readonly cause?: { readonly code?: string };
};

/** Why a part has not answered within `limitMs`. */
export const noAnswerText = (error: unknown, limitMs: number): string => {
  const { name, code, message, cause } = error as Failure;
  if (name === 'TimeoutError' || name === 'AbortError')
    return `does not answer within ${limitMs / 1000} s: it is frozen or overloaded, or the network loses its packets`;
  const reason = (typeof code === 'string' ? code : undefined) ?? cause?.code ?? message;
  return `does not answer (${reason}): is it running?`;
};
