import type { InboxItem } from '@vigil/read-model';
import { useState } from 'preact/hooks';
import { isAsked, mayUse } from '../model/commands.ts';
import {
  answerAction,
  type Draft,
  type Drafts,
  draftOf,
  isAnsweredByQuestion,
  mistakeIn,
  type Question,
  withLabel,
  withText,
} from '../model/inbox/questions.ts';
import { usePage } from '../parts/context.tsx';

type FieldsProps = {
  readonly group: string;
  readonly question: Question;
  readonly draft: Draft;
  /** its labels are buttons */
  readonly hasButtons: boolean;
  readonly onLabel: (label: string) => void;
  readonly onText: (text: string) => void;
};

const Fields = ({ group, question, draft, hasButtons, onLabel, onText }: FieldsProps) => (
  <fieldset class="question-fields">
    <legend class={hasButtons ? 'hidden' : 'question'}>{question.text}</legend>
    {!hasButtons &&
      question.options.map(({ label, description, preview }) => (
        <label key={label} class="choice">
          <input
            type={question.isMultiple ? 'checkbox' : 'radio'}
            name={group}
            checked={draft.labels.includes(label)}
            onChange={() => onLabel(label)}
          />
          <span>
            {label}
            {description !== null && <span class="dim"> {description}</span>}
            {preview !== null && <pre class="preview">{preview}</pre>}
          </span>
        </label>
      ))}
    <label class="field">
      Other
      <input
        maxLength={2000}
        placeholder="Your own words"
        value={draft.text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </label>
  </fieldset>
);

/** The questions of a request. A single one with one answer has its labels as buttons, and takes other words here. */
export const Questions = ({ item }: { readonly item: InboxItem }) => {
  const { me, sent, act } = usePage();
  const [drafts, setDrafts] = useState<Drafts>({});
  const [mistake, setMistake] = useState<string | null>(null);
  const action = answerAction(item, drafts);
  const isPermitted = mayUse(me, action);
  const change = (changed: Drafts): void => {
    setDrafts(changed);
    setMistake(null);
  };
  const answer = (event: Event): void => {
    event.preventDefault();
    const found = mistakeIn(drafts, item.questions);
    setMistake(found);
    if (found === null) act(action);
  };
  return (
    <form class="questions" aria-label={`Answer to ${item.id}`} onSubmit={answer}>
      <fieldset class="question-fields" disabled={!isPermitted}>
        <legend class="hidden">Questions</legend>
        {item.questions.map((question) => (
          <Fields
            key={question.name}
            group={`${item.id}/${question.name}`}
            question={question}
            draft={draftOf(drafts, question)}
            hasButtons={!isAnsweredByQuestion(item)}
            onLabel={(label) => change(withLabel(drafts, question, label))}
            onText={(text) => change(withText(drafts, question, text))}
          />
        ))}
      </fieldset>
      {mistake !== null && (
        <p class="problem" role="alert">
          {mistake}
        </p>
      )}
      {isPermitted && (
        <button type="submit" class="button" disabled={isAsked(sent, action.key)}>
          Answer
        </button>
      )}
    </form>
  );
};
