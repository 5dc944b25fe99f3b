/**
 * One engine and its rows behind two applications: one takes the fast path, the other the general one. The second gets each
 * request once more with hooks that do nothing, so that Sequelize runs all statements.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { expect } from 'chai';
import type { BootstrapOptions } from '../../src/index.js';
import { buildApp } from './build-app.js';
import { onPath } from './combination.js';
import { type Listening, listen } from './listen.js';
import { startTestApp, type TestApp, type TestAppOptions } from './test-app.js';

/** An answer with all its bytes but the Date. */
export interface WholeAnswer {
  readonly status: number;
  /** Names as they were sent, sorted. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** A hook of reads, and one of writes that needs no transaction for them. */
const IDLE_HOOKS = ['afterFind', 'beforeBulkCreate'] as const;

/** The part of a tag in which two answers about the same state differ, where code of the user's sees them: no two have the same tag. */
const COUNTED = onPath({ fast: /$^/, values: /(?<=^ETag: "\w+)\.[^"]+/ });

/** A request. */
export interface WholeRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in the place of a body. */
  readonly file?: string;
}

/** The two applications. */
export class TwoPaths implements AsyncDisposable {
  readonly site: TestApp;
  readonly fast: Listening;
  readonly general: Listening;

  private constructor(site: TestApp, fast: Listening, general: Listening) {
    this.site = site;
    this.fast = fast;
    this.general = general;
  }

  static async start({ bootstrap, prepare, ...options }: TestAppOptions): Promise<TwoPaths> {
    const both: BootstrapOptions = { models: options.models, ...bootstrap };
    const site = await startTestApp({
      ...options,
      bootstrap: { ...both, fastPath: true },
      ...(prepare ? { prepare } : {}),
    });
    try {
      const general = await buildApp({ ...both, fastPath: false }, prepare);
      return new TwoPaths(site, await listen(site.app), await listen(general.app));
    } catch (error) {
      await site[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Expects equal answers of both, and of Sequelize, and returns that answer. Whatever changes rows must be undone in between: see `undo`. */
  async same(wanted: WholeRequest, undo: () => Promise<unknown> = async () => {}): Promise<WholeAnswer> {
    const fast = await ask(this.fast, wanted);
    await undo();
    const general = await ask(this.general, wanted);
    expect(fast, `${wanted.method ?? 'GET'} ${wanted.path}`).to.deep.equal(general);
    await undo();
    const bySequelize = await this.withHooks(() => ask(this.general, wanted));
    expect(fast, `${wanted.method ?? 'GET'} ${wanted.path} of Sequelize`).to.deep.equal(bySequelize);
    return fast;
  }

  /** Runs work while no statement of a model is ours. */
  async withHooks<T>(work: () => Promise<T>): Promise<T> {
    const { sequelize } = this.site.engine;
    for (const name of IDLE_HOOKS) sequelize.addHook(name, 'idle', () => {});
    try {
      return await work();
    } finally {
      for (const name of IDLE_HOOKS) sequelize.removeHook(name, 'idle');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fast[Symbol.asyncDispose]();
    await this.general[Symbol.asyncDispose]();
    await this.site[Symbol.asyncDispose]();
  }
}

/** Sends a request, and reads the whole answer. */
export async function ask(
  { port }: Listening,
  { method = 'GET', path, headers = {}, body, file }: WholeRequest,
): Promise<WholeAnswer> {
  const text = file ?? (body === undefined ? undefined : JSON.stringify(body));
  const sent = request({
    port,
    host: '127.0.0.1',
    method,
    path,
    headers: { ...(text === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
  });
  sent.end(text);
  const [answer] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return {
    status: answer.statusCode,
    headers: headerLines(answer.rawHeaders),
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

function headerLines(raw: readonly string[]): string[] {
  const lines: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at] !== 'Date') lines.push(`${raw[at]}: ${raw[at + 1]}`.replace(COUNTED, ''));
  }
  return lines.sort();
}
