/** A command as it is typed into a shell, with all that it prints. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';

/** An installation on a slow network takes minutes. */
const LONGEST = 600_000;

/** A command that runs. It is stopped after ten minutes, together with what it has started. */
export class ShellCommand {
  #child;
  #closed;
  output = '';

  /** @param options `folder` is where it runs, and `env` its whole environment */
  constructor(text, { folder, env }) {
    this.text = text;
    this.#child = spawn(text, {
      cwd: folder,
      env,
      shell: true,
      // A group of its own, so that the shell does not outlive what it started, or the other way round.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.setEncoding('utf8').on('data', (printed) => {
        this.output += printed;
      });
    const kill = () => this.#kill();
    const timer = setTimeout(kill, LONGEST);
    process.once('exit', kill);
    this.#closed = once(this.#child, 'close').finally(() => {
      clearTimeout(timer);
      process.removeListener('exit', kill);
    });
  }

  /** @returns what it has printed, when it has ended well */
  async succeed() {
    const [code] = await this.#closed;
    if (code !== 0) throw new CommandFailed(this);
    return this.output;
  }

  /** Waits until it has ended badly, and has printed these texts. */
  async fail(texts) {
    const [code] = await this.#closed;
    if (code === 0 || texts.some((text) => !this.output.includes(text))) throw new CommandFailed(this);
  }

  /** Waits until it prints a text. */
  async print(text) {
    const printed = new Promise((resolve) => {
      const look = () => this.output.includes(text) && resolve();
      for (const stream of [this.#child.stdout, this.#child.stderr]) stream.on('data', look);
      look();
    });
    await Promise.race([printed, this.#closed]);
    if (!this.output.includes(text)) throw new CommandFailed(this);
  }

  async stop() {
    this.#kill();
    await this.#closed;
  }

  #kill() {
    if (!this.#hasEnded()) process.kill(-this.#child.pid, 'SIGTERM');
  }

  #hasEnded() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}

/** A command that did not end as it should, or whose answer is another one. */
export class CommandFailed extends Error {
  constructor({ text, output }) {
    super(`$ ${text}\n${output}`);
    this.command = text;
    this.output = output;
  }
}
