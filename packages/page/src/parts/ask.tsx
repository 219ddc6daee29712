import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Action, type Command, defaultReason } from '../model/commands.ts';
import { oldStateText } from '../model/knowledge.ts';

const DURATIONS: readonly (readonly [text: string, ms: number])[] = [
  ['15 minutes', 900_000],
  ['1 hour', 3_600_000],
  ['4 hours', 14_400_000],
  ['1 day', 86_400_000],
];

type AskProps = {
  readonly action: Action;
  /** the page does not have the present state */
  readonly isBlind: boolean;
  readonly onSend: (command: Command, why: string) => void;
  readonly onCancel: () => void;
};

/** Asks for the reason of a command before it is sent. An answer to a request needs none. */
export const Ask = ({ action, isBlind, onSend, onCancel }: AskProps) => {
  const old = oldStateText(isBlind);
  const byDefault = defaultReason(action.command);
  const dialog = useRef<HTMLDialogElement>(null);
  const [why, setWhy] = useState('');
  const [forMs, setForMs] = useState(3_600_000);
  const [message, setMessage] = useState('');
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // It gives the focus back to the button that opened it.
    return () => shown?.close();
  }, []);
  const send = (event: Event): void => {
    event.preventDefault();
    const added = {
      ...(action.fields.includes('forMs') && { forMs }),
      ...(action.fields.includes('message') && message.trim() !== '' && { message }),
    };
    const reason = why.trim();
    onSend({ ...action.command, ...added }, reason === '' ? (byDefault ?? '') : reason);
  };
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="ask-title" onClose={onCancel}>
      <form onSubmit={send}>
        <h2 id="ask-title">{action.label}</h2>
        <p>{action.text}</p>
        {old !== null && <p class="note-old">{old}</p>}
        {action.fields.includes('message') && (
          <label class="field">
            Text to the agent
            <textarea
              rows={3}
              maxLength={4000}
              placeholder="The policy's own text, if you write none"
              value={message}
              onInput={(event) => setMessage(event.currentTarget.value)}
            />
          </label>
        )}
        {action.fields.includes('forMs') && (
          <label class="field">
            For
            <select value={forMs} onChange={(event) => setForMs(Number(event.currentTarget.value))}>
              {DURATIONS.map(([text, ms]) => (
                <option key={ms} value={ms}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        )}
        <label class="field">
          <span>
            Why <span class="dim">{byDefault === null ? '(required)' : '(optional)'}</span>
          </span>
          <input
            required={byDefault === null}
            maxLength={2000}
            placeholder="The reason, for the history"
            value={why}
            onInput={(event) => setWhy(event.currentTarget.value)}
          />
        </label>
        <div class="actions end">
          <button type="button" class="button" onClick={onCancel}>
            Cancel
          </button>
          <button type="submit" class={action.isDangerous ? 'button danger solid' : 'button solid'}>
            {action.label}
          </button>
        </div>
      </form>
    </dialog>
  );
};
