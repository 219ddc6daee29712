import { spawn } from 'node:child_process';

/** A problem that the person at the keyboard can solve: the message is one sentence with the remedy. */
export class Refusal extends Error {}

export const report = (text) => process.stderr.write(`[bootstrap] ${text}\n`);

const PROGRESS_MS = 10_000;

/** Runs a quiet command to its end. If it fails, the refusal contains its last lines. */
export const run = (what, command, args, options) =>
  new Promise((resolve, reject) => {
    const since = Date.now();
    const seconds = () => `${((Date.now() - since) / 1000).toFixed(1)} s`;
    report(`${what} …`);
    const progress = setInterval(() => report(`${what} … ${seconds()}`), PROGRESS_MS);
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const end = (problem) => {
      clearInterval(progress);
      if (problem !== undefined) return reject(new Refusal(`${what}: ${problem}`));
      report(`${what}: done in ${seconds()}`);
      resolve();
    };
    child.on('error', (error) =>
      end(`${command} could not be started (${error.message}): is it installed and in PATH?`),
    );
    child.on('close', (code) => {
      if (code === 0) return end();
      const last = output.trim().split('\n').slice(-20).join('\n');
      end(`${command} ended with ${code}; is the npm registry reachable (npm ping)? Its output:\n${last}`);
    });
  });
