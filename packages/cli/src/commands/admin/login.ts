import type { Command } from 'commander';
import { dashboardSettings } from '../../config.ts';
import { dashboard, type Json, show } from '../../terminal.ts';

/** What the dashboard answers: a path of the dashboard, and until when it works, epoch milliseconds. */
type LoginLink = { readonly path: string; readonly expiresAt: number };

const EXAMPLES = `
The browser has the role of your token. It is logged in for 12 hours, or until the token ends or the dashboard restarts.

Examples:
  vigil login           the address of the page, with a login that works once, within five minutes
  vigil login --json    the same for programs`;

export const register = (program: Command): void => {
  program
    .command('login')
    .description('the address of the page, with a login for one browser')
    .option('--json', 'for programs')
    .addHelpText('after', EXAMPLES)
    .action(login);
};

const login = async ({ json }: Json): Promise<void> => {
  const { path, expiresAt } = await dashboard().post<LoginLink>('/v1/login-links', {});
  const { href } = new URL(path, dashboardSettings(process.env).url);
  show(json, { url: href, expiresAt }, ({ url }) => [url, 'Open it within five minutes. It works once.']);
};
