/** The contenders. Each is a process of its own, which reads a port and a database from its environment. */
import { join } from 'node:path';
import { feathers, finale, handWritten, nest, ours, oursByTwoKeys, type Wire } from './load/wires.js';
import { BENCH } from './paths.js';

/** A server that is compared with others. `W` is the type that writes requests for its API. */
export interface Contender<W = unknown> {
  /** Name for `--only`. */
  readonly name: string;
  readonly title: string;
  /**
   * An extension is ours with code of a user's in its routes, or the limit with the same by hand. A setting is ours with another way to
   * the database or the client. Both have files of their own, and are no part of the full run.
   */
  readonly group: 'limit' | 'hand-written' | 'peer' | 'ours' | 'extension' | 'setting';
  /** The compiled program. */
  readonly script: string;
  readonly wire: W;
  /** Packages whose versions the report names. */
  readonly packages: readonly string[];
  /** True where the rows have to be of a tenant. */
  readonly isScoped?: boolean;
  /** True where rows have to have a key of two columns. */
  readonly hasTwoKeys?: boolean;
  /** Workloads under which a request of it takes seconds. */
  readonly omits?: readonly string[];
  /** Variables of its process. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The path that it answers as soon as it is ready. Default: an article. */
  readonly readyPath?: string;
}

/** The contender that all ratios are to. */
export const LIMIT = 'node-http';

/** The contender that the ratios to the others are of. */
export const OURS = 'ours';

/** Contenders that are measured on several platforms and with crowds, where no others are named. */
export const VARIED = ['node-http-pipelined', LIMIT, OURS];

/** Contenders of a full run. */
export const isUsual = ({ group }: Pick<Contender, 'group'>): boolean =>
  group !== 'extension' && group !== 'setting';

/** Folders from which packages are resolved: for programs of the project, and for those of the peers. */
const OWN = join(__dirname, 'contenders');
const PEERS = join(BENCH, 'peers/dist');

/**
 * They are measured in this order. The ones that are compared most are next to each other, because other work on the machine
 * can change its speed within half a minute.
 */
export const CONTENDERS: readonly Contender<Wire>[] = [
  limit('node-http-pipelined', 'node:http + pg, pipelined', ['pg']),
  limit(LIMIT, 'node:http + pg', ['pg']),
  peer('fastify-pg', 'Fastify 5 + pg', handWritten, ['fastify', 'pg'], 'hand-written'),
  own(OURS, 'crud-controllers'),
  own('ours-override', 'crud-controllers, override', 'extension'),
  own('ours-interceptor', 'crud-controllers, interceptor', 'extension'),
  own('ours-read-schema', 'crud-controllers, read schema', 'extension'),
  own('ours-getter', 'crud-controllers, getter', 'extension'),
  byHand('node-http-unit-of-work', 'node:http + pg, transactions'),
  own('ours-unit-of-work', 'crud-controllers, unit of work', 'extension'),
  byHand('node-http-scope', 'node:http + pg, scope', true),
  own('ours-scope', 'crud-controllers, scope', 'extension', true),
  {
    ...own('ours-two-keys', 'crud-controllers, key of two columns', 'extension'),
    wire: oursByTwoKeys,
    hasTwoKeys: true,
    readyPath: '/articles/1,true',
  },
  own('ours-group-commit', 'crud-controllers, group commit'),
  own('ours-pool-hook', 'crud-controllers, hook of the pool', 'setting'),
  own('ours-rls', 'crud-controllers, row security', 'setting'),
  own('ours-unprepared', 'crud-controllers, no prepared statements', 'setting'),
  own('ours-tls', 'crud-controllers, TLS', 'setting'),
  own('ours-traced', "crud-controllers, OpenTelemetry's instrumentation of pg", 'setting'),
  visible('ours-opentelemetry', 'opentelemetry', 'traceWithOpenTelemetry'),
  visible('ours-channels', 'channels', 'subscribers to both channels'),
  visible('ours-metrics', 'metrics', 'metrics'),
  visible('ours-access-log', 'accessLog', 'access log'),
  visible('ours-server-timing', 'serverTiming', 'Server-Timing'),
  written('express4-pg', 'Express 4 + pg', ['express4', 'pg']),
  written('express5-pg', 'Express 5 + pg', ['express', 'pg']),
  own('ours-listen', 'crud-controllers, app.listen'),
  own('ours-own-server', 'crud-controllers, http.createServer', 'setting'),
  written('express4-sequelize', 'Express 4 + Sequelize', ['express4', 'sequelize']),
  own('ours-general', 'crud-controllers, general path'),
  written('routing-controllers-sequelize', 'routing-controllers + Sequelize', ['routing-controllers']),
  peer('nest-crud', 'NestJS + @dataui/crud + TypeORM', nest, ['@nestjs/core', '@dataui/crud', 'typeorm']),
  peer('feathers-sequelize', 'Feathers + Sequelize', feathers, ['@feathersjs/koa', 'feathers-sequelize']),
  peer('feathers-knex', 'Feathers + Knex', feathers, ['@feathersjs/knex', 'knex']),
  peer('finale-rest', 'finale-rest', finale, ['finale-rest']),
];

function limit(name: string, title: string, packages: readonly string[]): Contender<Wire> {
  return { name, title, group: 'limit', script: join(OWN, `${name}.js`), wire: handWritten, packages };
}

/** The limit with what an extension of ours does. */
function byHand(name: string, title: string, isScoped = false): Contender<Wire> {
  return { ...limit(name, title, ['pg']), group: 'extension', isScoped };
}

/** Ours with a means to see what it does. */
function visible(name: string, means: string, title: string): Contender<Wire> {
  const variables = { VISIBLE: means };
  return { ...own('ours-visible', `crud-controllers, ${title}`, 'extension'), name, variables };
}

function written(name: string, title: string, packages: readonly string[]): Contender<Wire> {
  return { name, title, group: 'hand-written', script: join(OWN, `${name}.js`), wire: handWritten, packages };
}

function peer(
  name: string,
  title: string,
  wire: Wire,
  packages: readonly string[],
  group: Contender['group'] = 'peer',
): Contender<Wire> {
  return { name, title, group, script: join(PEERS, `${name}.js`), wire, packages };
}

function own(
  name: string,
  title: string,
  group: Contender['group'] = 'ours',
  isScoped = false,
): Contender<Wire> {
  const packages = ['express', 'routing-controllers', 'sequelize', 'pg'];
  return { name, title, group, script: join(OWN, `${name}.js`), wire: ours, packages, isScoped };
}
