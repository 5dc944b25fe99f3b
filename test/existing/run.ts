/** Serves the generated models of a database on both paths, drives them, and writes a report. */

import { once } from 'node:events';
import { Agent, request } from 'node:http';
import express from 'express';
import type { Client } from 'pg';
import {
  type BootstrapOptions,
  bootstrap,
  ConfigError,
  type CrudOptions,
  engineLifespan,
  type Operation,
} from '../../src/index.js';
import { readDatabase } from '../../src/scaffold/read-database.js';
import { CapturedLog } from '../support/captured-log.js';
import { type Listening, listen } from '../support/listen.js';
import { connectTo } from '../support/postgres.js';
import { missedFacts } from './catalogue.js';
import {
  type Generated,
  generate,
  type Link,
  type Specimen,
  specimensOf,
  wronglyShown,
} from './generated.js';
import { Judge, type Path, shownColumns } from './judge.js';
import { PAGE_MAX, readRelations as readLinks, readModel } from './reads.js';
import { RowMaker } from './rows.js';
import { quote, type Relation, relationsOf } from './tables.js';
import { ruleOf } from './wire.js';
import { writeModel } from './writes.js';

/** Findings of a run. */
export interface Report {
  readonly models: number;
  readonly requests: number;
  readonly differences: readonly string[];
  /** Models about which nothing differs. */
  readonly right: number;
  /** Constructs that the generator leaves out, with the reason. */
  readonly leftOut: readonly string[];
  /** Warnings of the start, each once. */
  readonly warnings: readonly string[];
  /** Tables and views without rows, which few requests can check. */
  readonly empty: readonly string[];
}

const INCLUDES = 10;
const PLAIN: Operation[] = ['list', 'read', 'create', 'update', 'delete'];

/**
 * Drives the models that are generated for a database: as they are, and then with every filter, order and relation. It writes:
 * use a copy.
 *
 * @param few questions of each kind. Default: all
 * @param every number of models for each that is driven, with ten relations at most; all are served. Default: 1
 */
export async function drive(url: string, few = Infinity, every = 1): Promise<Report> {
  await using client = await connectTo(url);
  await client.query(
    "SET TimeZone = 'UTC'; SET IntervalStyle = 'iso_8601'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'",
  );
  const relations = relationsOf(await readDatabase(url));
  const maker = new RowMaker(client, relations);
  await maker.fill();
  for (const { sql, kind } of relations)
    if (kind === 'materialized view') await client.query(`REFRESH MATERIALIZED VIEW ${sql}`);
  const empty: string[] = [];
  for (const table of relations) if ((await maker.rowsOf(table)).length === 0) empty.push(table.sql);
  const names: Record<string, { id: readonly string[] }> = {};
  for (const table of relations.filter(
    ({ kind, uniques }) => kind.endsWith('view') && uniques.length === 0,
  )) {
    const id = await guessKey(client, table);
    if (id.length > 0) names[`${table.schema}.${table.name}`] = { id };
  }
  await using generated = await generate(url, names);
  const differences = [...generated.problems];
  const leftOut = generated.leftOut.map(({ construct, reason }) => `${construct}: ${reason}`);
  if (generated.problems.length > 0)
    return { models: 0, requests: 0, right: 0, differences, leftOut, warnings: [], empty };
  const warnings = new Set<string>();
  // Few questions are others for each column.
  let turn = 0;
  const some = <T>(all: readonly T[]): readonly T[] => {
    turn += 1;
    const step = Math.max(1, Math.ceil(all.length / few));
    return all.filter((_, at) => (at + turn) % step === 0);
  };
  const wrong = new Set<string>();
  const totals = { models: 0, requests: 0 };
  let rounds = 1;
  // A model may name ten relations, so those with more are served again with the others.
  for (let round = -1; round < rounds; round += 1) {
    const isGenerated = round < 0;
    // Rows without a key are only listed.
    const linksOf = ({ links }: Specimen): Link[] =>
      links
        .filter(({ target }) => !isGenerated && target.id.length > 0)
        .slice(round * INCLUDES, (round + 1) * INCLUDES);
    const choose = (specimen: Specimen, options: CrudOptions) =>
      isGenerated ? options : widened(specimen, linksOf(specimen), options);
    await using fleet = await serve(url, relations, generated, choose, isGenerated);
    const { specimens, served, log, paths } = fleet;
    differences.push(...fleet.problems);
    if (isGenerated) {
      totals.models = specimens.length;
      differences.push(...(await missedFacts(client, specimens, generated.leftOut)));
      differences.push(...served.flatMap(wronglyShown));
      if (every === 1)
        rounds = Math.max(1, ...specimens.map(({ links }) => Math.ceil(links.length / INCLUDES)));
    }
    for (const specimen of served.filter((_, at) => (at + Math.max(round, 0)) % every === 0)) {
      const judge = new Judge(client, paths, specimen);
      const { table } = specimen;
      const all = shownColumns(specimen);
      if (round > 0) await readLinks(judge, linksOf(specimen));
      else {
        const columns = isGenerated ? all.filter(({ name }) => table.leading.has(name)) : all;
        await readModel(judge, columns, linksOf(specimen), some);
        if (isWritten(specimen) && (isGenerated || canReplace(specimen)))
          await writeModel(judge, maker, !isGenerated);
      }
      totals.requests += judge.requests;
      differences.push(...judge.differences);
      if (judge.differences.length > 0) wrong.add(specimen.name);
    }
    for (const { message, level, details } of log.lines)
      if (/warn|error/.test(level)) warnings.add(`${message} ${details['stack'] ?? ''}`.trim());
  }
  return {
    ...totals,
    differences,
    right: totals.models - wrong.size,
    leftOut,
    warnings: [...warnings],
    empty,
  };
}

interface Fleet extends AsyncDisposable {
  readonly paths: readonly Path[];
  readonly specimens: readonly Specimen[];
  readonly served: readonly Specimen[];
  readonly log: CapturedLog;
  /** Refusals of the start. */
  readonly problems: readonly string[];
}

/** Starts both applications, with the options of a choice. */
async function serve(
  url: string,
  relations: readonly Relation[],
  generated: Generated,
  choose: (specimen: Specimen, options: CrudOptions) => CrudOptions,
  indexAdvice: boolean,
): Promise<Fleet> {
  // The relations of a class are known when all of them are.
  const described = generated.load((_, options) => options);
  const draft = await engineLifespan(url, { models: described.models })(express());
  const drafts = specimensOf(described.models, relations);
  await draft[Symbol.asyncDispose]();
  const { models, served: names } = generated.load((model, options) => {
    const specimen = drafts.find(({ name }) => name === model.name);
    return specimen ? choose(specimen, options) : options;
  });
  const engine = await engineLifespan(url, { models })(express());
  const specimens = specimensOf(models, relations);
  const log = new CapturedLog();
  const servers: Listening[] = [];
  const problems: string[] = [];
  const served = specimens.filter(({ name }) => names.has(name));
  try {
    for (const fastPath of [true, false])
      servers.push(await start(served, { fastPath, indexAdvice, logger: log }));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
  }
  const [fast, general] = servers;
  return {
    paths:
      fast && general
        ? [
            { name: 'fast', send: sender(fast) },
            { name: 'general', send: sender(general) },
          ]
        : [],
    specimens,
    served: problems.length > 0 ? [] : served,
    log,
    problems,
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
    },
  };
}

async function start(served: readonly Specimen[], options: BootstrapOptions): Promise<Listening> {
  const app = express();
  const models = served.map(({ model }) => model);
  const crud = await bootstrap(app, { ...options, models, docs: false, health: false });
  for (const { resource, path, handler } of crud.routes)
    for (const specimen of served)
      if (specimen.name === resource && handler === 'list') specimen.prefix = path;
  // The document is the same on both paths, and takes as long as the rest of the start.
  if (!options.fastPath) return listen(app);
  const schemas = crud.openapi().components?.schemas ?? {};
  for (const specimen of served) {
    const { properties = {} } = schemas[`${specimen.name}Read`] as { readonly properties?: object };
    const all = specimen.table.columns.map(({ name }) => name);
    specimen.hidden = new Set(all.filter((name) => !((specimen.attributes.get(name) ?? '') in properties)));
  }
  return listen(app);
}

/** Options that allow all requests of a model, beside the generated ones. */
function widened(specimen: Specimen, links: readonly Link[], generated: CrudOptions): CrudOptions {
  return {
    ...generated,
    pageSize: { max: PAGE_MAX },
    filterAllow: '*',
    sortAllow: '*',
    include: Object.fromEntries(links.map(({ name }) => [name, true])),
    ...(isWritten(specimen) && canReplace(specimen) ? { endpoints: [...PLAIN, 'replace'] } : {}),
  };
}

function isWritten({ table: { kind }, id }: Specimen): boolean {
  return (kind === 'table' || kind === 'partitioned table') && id.length > 0;
}

/** True where clients give all of the key. */
function canReplace({ table, id }: Specimen): boolean {
  return table.columns.every(
    ({ name, hasDefault, isGenerated }) => !id.includes(name) || !(hasDefault || isGenerated),
  );
}

/** The fewest columns of a view that identify its rows: at most three that a path can have, where an empty text alone is none. */
async function guessKey(client: Client, table: Relation): Promise<readonly string[]> {
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
