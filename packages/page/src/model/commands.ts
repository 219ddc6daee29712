/** A command as the API takes it: `kind`, and the fields of that kind. The page adds `by` and `why`. */
export type Command = { readonly kind: string; readonly [field: string]: unknown };

/** A button of the page: one command. */
export type Action = {
  /** the same for the same button, so that it shows as asked */
  readonly key: string;
  readonly label: string;
  /** what it does, in a sentence */
  readonly text: string;
  readonly command: Command;
  readonly isDangerous: boolean;
  /** what the person may add; each is a field of the command */
  readonly fields: readonly Field[];
};

/** `forMs`: a duration; `message`: a text */
export type Field = 'forMs' | 'message';

/** The recorded reason where a person gives none; null: the command needs a reason. The answer to a request is its own reason. */
export const defaultReason = ({ kind }: Pick<Command, 'kind'>): string | null =>
  kind === 'answer_request' ? 'answered on the page' : null;

/** Who uses the page, and the kinds of commands that their role permits. */
export type Me = { readonly name: string; readonly role: string; readonly commands: readonly string[] };

/** The role is not the name: the dashboard's own token has the name `admin`. */
export const whoText = ({ name, role }: Me): string => (name === role ? `role ${role}` : `${name} (${role})`);

export const mayUse = (me: Me | null, { command }: Pick<Action, 'command'>): boolean =>
  me?.commands.includes(command.kind) ?? false;

/** What has become of a sent command. `at`: epoch milliseconds. */
export type Sent = {
  readonly id: number;
  readonly key: string;
  readonly label: string;
  readonly at: number;
  readonly became:
    | { readonly kind: 'sending' }
    /** `text`: what it waits for; empty: nothing is reported yet */
    | { readonly kind: 'asked'; readonly eventId: string; readonly text: string }
    | { readonly kind: 'applied'; readonly text: string }
    | { readonly kind: 'refused'; readonly text: string }
    /** it is written, and its outcome was not reported in time */
    | { readonly kind: 'unknown'; readonly text: string };
};

/** Whether its outcome has not arrived yet. */
export const isUnderWay = ({ became }: Sent): boolean => became.kind === 'sending' || became.kind === 'asked';

/** Whether the button of this key waits for an outcome. */
export const isAsked = (sent: readonly Sent[], key: string): boolean =>
  sent.some((one) => one.key === key && isUnderWay(one));

const KEPT = 20;

/** The list with this command's newest standing; the oldest finished ones are left out. */
export const withSent = (sent: readonly Sent[], one: Sent): readonly Sent[] => {
  const others = sent.filter(({ id }) => id !== one.id);
  return [...others, one].toSorted((a, b) => a.id - b.id).slice(-KEPT);
};
