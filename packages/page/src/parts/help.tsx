import { useLayoutEffect, useRef } from 'preact/hooks';
import { VIEWS } from '../model/places.ts';

const KEYS: readonly (readonly [keys: string, text: string])[] = [
  ['/', 'find agents'],
  ['q', 'open the newest operator review'],
  ['?', 'this help'],
  ['Esc', 'close what is open'],
  ['←→↑↓', 'move between the cells of the fleet'],
  ...VIEWS.map(({ key, title }) => [`g ${key}`, title] as const),
];

export const Help = ({ onClose }: { readonly onClose: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([keys, text]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <div class="actions end">
        <button type="button" class="button solid" onClick={onClose}>
          Close
        </button>
      </div>
    </dialog>
  );
};
