/** Serves the models of a database on both paths, drives them, and writes a report. */

import { once } from 'node:events';
import { Agent, request } from 'node:http';
import express from 'express';
import type { Client } from 'pg';
import {
  bootstrap,
  ConfigError,
  type CrudOptions,
  type Engine,
  engineLifespan,
  type Operation,
} from '../../src/index.js';
import { CapturedLog } from '../support/captured-log.js';
import { type Listening, listen } from '../support/listen.js';
import { connectTo } from '../support/postgres.js';
import { quote, type Relation, readRelations } from './catalogue.js';
import { isSortable, Judge, type Path } from './judge.js';
import { defineModels, type Link, planModels, type Specimen } from './models.js';
import { PAGE_MAX, readRelations as readLinks, readModel } from './reads.js';
import { RowMaker } from './rows.js';
import { ruleOf } from './wire.js';
import { writeModel } from './writes.js';

/** What a run has found. */
export interface Report {
  readonly models: number;
  readonly requests: number;
  readonly differences: readonly string[];
  /** Models that cannot be served, with the reasons. */
  readonly impossible: ReadonlyMap<string, readonly string[]>;
  /** Relations that the start refuses, with the reason. */
  readonly refused: readonly string[];
  /** Foreign keys without a relation. */
  readonly leftOut: readonly string[];
  /** Warnings of the start, each once. */
  readonly warnings: readonly string[];
  /** Tables and views without rows, about which little was asked. */
  readonly empty: readonly string[];
}

const INCLUDES = 10;
const PLAIN: Operation[] = ['list', 'read', 'create', 'update', 'delete'];

/**
 * Drives the models of a database. It writes: give it a copy.
 *
 * @param few questions of each kind. Default: all
 * @param every how many models there are for each that is driven; all are served. Default: 1
 */
export async function drive(url: string, few = Infinity, every = 1): Promise<Report> {
  await using client = await connectTo(url);
  await client.query(
    "SET TimeZone = 'UTC'; SET IntervalStyle = 'iso_8601'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'",
  );
  const relations = await readRelations(client);
  const maker = new RowMaker(client, relations);
  await maker.fill();
  for (const { sql, kind } of relations)
    if (kind === 'm') await client.query(`REFRESH MATERIALIZED VIEW ${sql}`);
  const empty: string[] = [];
  for (const table of relations) if ((await maker.rowsOf(table)).length === 0) empty.push(table.sql);
  const { specimens, leftOut } = await planModels(relations, (table) => guessKey(client, table));
  const trouble: Trouble = { impossible: new Map(), refused: [] };
  const warnings = new Set<string>();
  // Few questions are others for each column.
  let turn = 0;
  const some = <T>(all: readonly T[]): readonly T[] => {
    turn += 1;
    const step = Math.max(1, Math.ceil(all.length / few));
    return all.filter((_, at) => (at + turn) % step === 0);
  };
  const totals = { requests: 0, differences: [] as string[] };
  // A model may name ten relations, so those with more are served again with the others.
  const rounds = Math.max(1, ...specimens.map(({ links }) => Math.ceil(links.length / INCLUDES)));
  for (let round = 0; round < rounds; round += 1) {
    const linksOf = ({ links }: Specimen): Link[] => links.slice(round * INCLUDES, (round + 1) * INCLUDES);
    const wanted = specimens.filter((each) => round === 0 || linksOf(each).length > 0);
    await using fleet = await serve(url, specimens, wanted, linksOf, trouble);
    for (const specimen of fleet.served.filter((_, at) => (at + round) % every === 0)) {
      const judge = new Judge(client, fleet.paths, specimen);
      if (round > 0) await readLinks(judge, linksOf(specimen));
      else await readModel(judge, linksOf(specimen), some);
      if (round === 0 && isWritten(specimen)) await writeModel(judge, maker, canReplace(specimen));
      totals.requests += judge.requests;
      totals.differences.push(...judge.differences);
    }
    for (const { message, level, details } of fleet.log.lines)
      if (/warn|error/.test(level)) warnings.add(`${message} ${details['stack'] ?? ''}`.trim());
  }
  return { ...totals, ...trouble, models: specimens.length, leftOut, warnings: [...warnings], empty };
}

interface Trouble {
  readonly impossible: Map<string, string[]>;
  readonly refused: string[];
}

interface Fleet extends AsyncDisposable {
  readonly paths: readonly Path[];
  readonly served: readonly Specimen[];
  readonly log: CapturedLog;
}

/** Starts both applications. Models that the start refuses are left out, and it is tried again. */
async function serve(
  url: string,
  all: readonly Specimen[],
  wanted: readonly Specimen[],
  linksOf: (specimen: Specimen) => Link[],
  trouble: Trouble,
): Promise<Fleet> {
  const { impossible, refused } = trouble;
  const served = wanted.filter(({ name }) => !impossible.has(name));
  const models = defineModels(all, (specimen) =>
    served.includes(specimen) ? optionsOf(specimen, linksOf(specimen)) : null,
  );
  const engine = await engineLifespan(url, { models })(express());
  for (const { id, model } of all) if (id.length === 0) model.removeAttribute('id');
  const log = new CapturedLog();
  try {
    const fast = await start(served, true, log);
    const general = await start(served, false, log);
    return {
      paths: [
        { name: 'fast', send: sender(fast) },
        { name: 'general', send: sender(general) },
      ],
      served,
      log,
      [Symbol.asyncDispose]: () => close(engine, fast, general),
    };
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    if (!(error instanceof ConfigError)) throw error;
    let isNew = false;
    for (const problem of error.problems) {
      const name = all.find((each) => new RegExp(`^${each.name}\\b`).test(problem))?.name;
      if (!name || !served.some((each) => each.name === name)) continue;
      isNew = true;
      const [, relation] = /include\.(\w+)/.exec(problem) ?? [];
      const links = all.find((each) => each.name === name)?.links ?? [];
      const at = links.findIndex((each) => each.name === relation);
      // The model is served without a relation that cannot be.
      if (at >= 0)
        refused.push(
          links
            .splice(at, 1)
            .map(() => problem)
            .join(),
        );
      else impossible.set(name, [...(impossible.get(name) ?? []), problem]);
    }
    if (!isNew) throw error;
    return serve(url, all, wanted, linksOf, trouble);
  }
}

async function start(
  served: readonly Specimen[],
  fastPath: boolean,
  logger: CapturedLog,
): Promise<Listening> {
  const app = express();
  await bootstrap(app, {
    models: served.map(({ model }) => model),
    fastPath,
    logger,
    indexAdvice: false,
    docs: false,
    health: false,
  });
  return listen(app);
}

async function close(engine: Engine, ...servers: readonly Listening[]): Promise<void> {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
}

/** All that a model can be asked. */
function optionsOf(specimen: Specimen, links: readonly Link[]): CrudOptions {
  const { table, prefix, id, attributes } = specimen;
  const sortable = table.columns.filter(isSortable).map(({ name }) => attributes.get(name));
  const options: CrudOptions = {
    prefix,
    pagination: id.length > 0 ? 'cursor' : 'offset',
    pageSize: { max: PAGE_MAX },
    filterAllow: '*',
    sortAllow: '*',
    include: Object.fromEntries(links.map(({ name }) => [name, true])),
  };
  if (id.length === 0)
    Object.assign(options, { defaultSort: sortable.slice(0, 5).join(), endpoints: ['list'] });
  else if (!isWritten(specimen)) Object.assign(options, { readOnly: true });
  else Object.assign(options, { endpoints: canReplace(specimen) ? [...PLAIN, 'replace'] : PLAIN });
  if (table.from !== table.sql) Object.assign(options, { only: true });
  if (id.length > 1) Object.assign(options, { id: id.map((name) => attributes.get(name)) });
  return options;
}

function isWritten({ table: { kind, key } }: Specimen): boolean {
  return (kind === 'r' || kind === 'p') && key.length > 0;
}

/** True where clients give all of the key. */
function canReplace({ table, id }: Specimen): boolean {
  return table.columns.every(({ name, hasDefault }) => !id.includes(name) || !hasDefault);
}

/** A unique index of a table without NULLs. Of a view, the fewest columns that tell its rows apart: at most three that a path can have, where an empty text alone is none. */
async function guessKey(client: Client, table: Relation): Promise<readonly string[]> {
  const isFilled = (name: string) => table.columns.some((column) => column.name === name && column.notNull);
  if (/[rp]/.test(table.kind)) return table.uniques.find((columns) => columns.every(isFilled)) ?? [];
  const fit = table.columns
    .filter((column) => ruleOf(column).isId && !/^(numeric|boolean)/.test(column.base))
    .map(({ name }) => name);
  const sets = [
    ...fit.map((name) => [name]),
    ...fit.flatMap((a, at) => fit.slice(at + 1).map((b) => [a, b])),
    ...fit.flatMap((a, at) =>
      fit.slice(at + 1).flatMap((b, then) => fit.slice(at + then + 2).map((c) => [a, b, c])),
    ),
  ];
  for (const set of sets.slice(0, 60)) {
    const columns = set.map(quote);
    const { rows } = await client.query(
      `SELECT count(*) > 0 AND count(*) = count(DISTINCT (${columns.join()})) AND bool_and(${columns.map((name) => `${name} IS NOT NULL`).join(' AND ')}${set.length === 1 ? ` AND ${columns}::text <> ''` : ''}) AS fits FROM ${table.sql}`,
    );
    if (rows[0].fits) return set;
  }
  return [];
}

const agent = new Agent({ keepAlive: true });

function sender({ port }: Listening): Path['send'] {
  return async (method, path, body) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const sent = request({
      agent,
      port,
      host: '127.0.0.1',
      method,
      path,
      headers: text === undefined ? {} : { 'Content-Type': 'application/json' },
    });
    sent.end(text);
    const [answer] = await once(sent, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk);
    const whole = Buffer.concat(chunks).toString('utf8');
    return {
      status: answer.statusCode,
      location: answer.headers.location,
      json: whole === '' ? undefined : JSON.parse(whole),
    };
  };
}
