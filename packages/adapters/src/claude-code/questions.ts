import type { QuestionAnswer, RequestQuestion } from '@vigil/events';
import type { Decision, HookPayload, HookRequest } from '../adapter.ts';
import { descriptionForPeople, forPeople, labelForPeople, previewForPeople } from '../shared/described.ts';
import { at, isFields, listAt, textAt } from '../shared/payload.ts';

// The input of AskUserQuestion: sdk-tools.d.ts of @anthropic-ai/claude-agent-sdk 0.3.332.

const MOST_OPTIONS = 10;
const MOST_QUESTIONS = 4;
const LONGEST_NAME = 64;
/** A name that a command line may have. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} _.-]*$/u;

const areUnique = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

type Option = RequestQuestion['options'][number];

const optionOf = (option: unknown): Option | null => {
  const label = textAt(option, 'label');
  const shown = label === null ? '' : labelForPeople(label);
  const description = textAt(option, 'description');
  const preview = textAt(option, 'preview');
  if (shown === '') return null;
  return {
    label: shown,
    description: description === null ? null : descriptionForPeople(description),
    preview: preview === null ? null : previewForPeople(preview),
  };
};

/** A question without its name; null: it is not one of labels, or two of them are the same. */
const questionOf = (question: unknown): Omit<RequestQuestion, 'name'> | null => {
  const text = textAt(question, 'question');
  const kind = textAt(question, 'kind') ?? 'choice';
  const options = listAt(question, 'options').map(optionOf);
  const known = options.filter((one) => one !== null);
  const isRead = known.length === options.length && known.length > 0 && known.length <= MOST_OPTIONS;
  if (text === null || kind !== 'choice' || !isRead) return null;
  if (!areUnique(known.map(({ label }) => label))) return null;
  const header = descriptionForPeople(textAt(question, 'header') ?? '');
  return { header, text: forPeople(text), isMultiple: at(question, 'multiSelect') === true, options: known };
};

/** Their headers as names, where each is one of its own. */
const namesOf = (headers: readonly string[]): readonly string[] => {
  const areNames = headers.every((header) => header.length <= LONGEST_NAME && NAME.test(header));
  return areNames && areUnique(headers) ? headers : headers.map((_, index) => `question-${index + 1}`);
};

/** The questions of AskUserQuestion, in their order; null: there is one that is not understood. */
const questionsOf = (payload: HookPayload): readonly RequestQuestion[] | null => {
  const asked = listAt(payload, 'tool_input', 'questions');
  const questions = asked.map(questionOf).filter((one) => one !== null);
  if (questions.length < asked.length || asked.length === 0 || asked.length > MOST_QUESTIONS) return null;
  // Its answers have the texts as keys.
  if (!areUnique(asked.map((one) => textAt(one, 'question') ?? ''))) return null;
  const names = namesOf(questions.map(({ header }) => header));
  return questions.map((question, index) => ({ name: names[index] ?? '', ...question }));
};

/** What is asked, in one text. */
const textOf = (questions: readonly RequestQuestion[]): string => {
  const [first] = questions;
  if (questions.length === 1 && first !== undefined) return first.text;
  return forPeople(questions.map(({ name, text }) => `${name}: ${text}`).join(' '));
};

/** The request of AskUserQuestion; null: it is left to the client's own dialog. One question with one answer has choices. */
export const questionRequest = (payload: HookPayload): HookRequest | null => {
  const questions = questionsOf(payload);
  if (questions === null) return null;
  const [first] = questions;
  const isPlain = questions.length === 1 && first !== undefined && !first.isMultiple;
  const choices = isPlain ? first.options.map(({ label }, index) => ({ name: String(index + 1), label })) : [];
  return { kind: 'question', tool: 'AskUserQuestion', text: textOf(questions), choices, questions };
};

/** One text for several labels, as Claude Code 2.1.330 joins them: a label with its separator or a quotation mark is quoted. */
const joined = (labels: readonly string[]): string =>
  labels.map((label) => (label.includes(', ') || label.includes('"') ? JSON.stringify(label) : label)).join(', ');

/** The client's own labels, which may be longer than those that people have seen. */
const labelsOf = (asked: unknown, question: RequestQuestion, { labels }: QuestionAnswer): readonly string[] => {
  const own = listAt(asked, 'options').map((option) => textAt(option, 'label') ?? '');
  return labels.map((label) => own[question.options.findIndex((option) => option.label === label)] ?? label);
};

const answerText = (asked: unknown, question: RequestQuestion, answer: QuestionAnswer): string => {
  const text = answer.text?.trim() ?? '';
  const values = [...labelsOf(asked, question, answer), ...(text === '' ? [] : [text])];
  return question.isMultiple ? joined(values) : values.join(', ');
};

/** The answer of a choice: that of its label. */
const answersOf = (questions: readonly RequestQuestion[], { choice, answers }: Decision): readonly QuestionAnswer[] => {
  if (answers.length > 0) return answers;
  const label = questions[0]?.options[Number(choice) - 1]?.label;
  return label === undefined ? [] : [{ question: questions[0]?.name ?? '', labels: [label], text: null }];
};

/** The input of AskUserQuestion with the answers of people: each text of a question has the labels and words that answer it. */
export const answeredInput = (payload: HookPayload, decision: Decision): object => {
  const input = at(payload, 'tool_input');
  const asked = listAt(input, 'questions');
  const questions = questionsOf(payload) ?? [];
  const answers = answersOf(questions, decision).flatMap((answer) => {
    const index = questions.findIndex(({ name }) => name === answer.question);
    const question = questions[index];
    if (question === undefined) return [];
    return [[textAt(asked[index], 'question') ?? '', answerText(asked[index], question, answer)] as const];
  });
  return { ...(isFields(input) ? input : {}), answers: Object.fromEntries(answers) };
};
