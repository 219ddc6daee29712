/** For which tasks a runtime's template is. */
export type TemplateFit = { readonly task: string; readonly labels: Readonly<Record<string, string>> };

const matches = (pattern: string, task: string): boolean =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
    's',
  ).test(task);

/** `*` in the pattern matches any text; the task must carry each label of the template with its value. */
export const templateFits = (template: TemplateFit, task: string, labels: Readonly<Record<string, string>>): boolean =>
  matches(template.task, task) &&
  Object.entries(template.labels).every(([label, value]) => Object.hasOwn(labels, label) && labels[label] === value);
