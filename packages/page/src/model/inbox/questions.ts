import type { QuestionAnswer } from '@vigil/events';
import { answersText, askedQuestion, mistakeInAnswers } from '@vigil/events/request-answer';
import type { InboxItem } from '@vigil/read-model';
import type { Action } from '../commands.ts';

export type Question = InboxItem['questions'][number];

/** What a person has chosen and written for one question so far. */
export type Draft = { readonly labels: readonly string[]; readonly text: string };

/** By the name of the question. */
export type Drafts = Readonly<Record<string, Draft>>;

const NOTHING: Draft = { labels: [], text: '' };

export const draftOf = (drafts: Drafts, { name }: Question): Draft => drafts[name] ?? NOTHING;

/** One answer is a label or other words; several are any of them. */
export const withLabel = (drafts: Drafts, question: Question, label: string): Drafts => {
  const { labels, text } = draftOf(drafts, question);
  const others = labels.filter((one) => one !== label);
  const toggled = others.length < labels.length ? others : [...labels, label];
  const draft = question.isMultiple ? { labels: toggled, text } : { labels: [label], text: '' };
  return { ...drafts, [question.name]: draft };
};

export const withText = (drafts: Drafts, question: Question, text: string): Drafts => {
  const { labels } = draftOf(drafts, question);
  const kept = question.isMultiple || text.trim() === '' ? labels : [];
  return { ...drafts, [question.name]: { labels: kept, text } };
};

/** The labels are in the order of the question. */
const answersIn = (drafts: Drafts, questions: readonly Question[]): readonly QuestionAnswer[] =>
  questions.map((question) => {
    const { labels, text } = draftOf(drafts, question);
    const chosen = question.options.map(({ label }) => label).filter((label) => labels.includes(label));
    return { question: question.name, labels: chosen, text: text.trim() === '' ? null : text.trim() };
  });

/** What is missing or too much, in a sentence; null: the answer is complete. */
export const mistakeIn = (drafts: Drafts, questions: readonly Question[]): string | null => {
  const mistake = mistakeInAnswers(questions.map(askedQuestion), answersIn(drafts, questions));
  return mistake === null ? null : `${mistake.detail}.`;
};

/** The answer to all questions of an item, as one command. */
export const answerAction = ({ id, questions }: InboxItem, drafts: Drafts): Action => {
  const answers = answersIn(drafts, questions);
  return {
    key: `${id}/answers`,
    label: 'Answer',
    text: answersText(answers),
    command: { kind: 'answer_request', requestId: id.slice(id.indexOf('/') + 1), answers },
    isDangerous: false,
    fields: [],
  };
};

/** Whether an answer names each question, as no option answers all of them. */
export const isAnsweredByQuestion = ({ options, questions }: InboxItem): boolean =>
  options.length === 0 && questions.length > 0;
