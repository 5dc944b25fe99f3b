/** Metrics of requests, statements and connections, by the names of OpenTelemetry's conventions, in the registry of prom-client. */

import type { RequestHandler } from 'express';
import type * as PromClient from 'prom-client';
import type { Sequelize } from 'sequelize';
import {
  errorType,
  operationChannel,
  operationOf,
  type StatementMessage,
  statementChannel,
} from '../diagnostics/channels.js';
import { knownManager, type PoolUsage, poolsOf, statementRunner } from '../postgres/index.js';
import { describePath } from '../request/request-log.js';
import { GAUGES } from '../util/gauges.js';
import { nullIfMissing } from '../util/optional-package.js';

/** Seconds: the boundaries that the conventions recommend for requests, and for statements. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const STATEMENT_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/** A metric of prom-client's own, by which its default metrics are found. */
const DEFAULT_METRIC = 'process_cpu_seconds_total';

/** The metrics of an application. */
export interface Metrics {
  /** Measures each request. */
  readonly observe: RequestHandler;
  readonly contentType: string;
  /** All of the registry, as a text. */
  read(): Promise<string>;
}

/** Why there can be no metrics; null where there can. */
export function metricsProblem(): string | null {
  return load() ? null : 'metrics needs the package prom-client; npm install prom-client.';
}

function load(): typeof PromClient | null {
  try {
    return require('prom-client');
  } catch (error) {
    return nullIfMissing('prom-client', error);
  }
}

/** Metrics of the process: several applications share a registry, and so do the metrics of the user's. */
let shared: ReturnType<typeof register> | undefined;
const instances = new Set<Sequelize>();

/** Begins to measure. */
export function createMetrics(served: Iterable<Sequelize>): Metrics {
  for (const sequelize of served) instances.add(sequelize);
  // `metricsProblem` has loaded it before.
  shared ??= register(load() as typeof PromClient);
  const { registry, requests } = shared;
  return {
    contentType: registry.contentType,
    read: () => registry.metrics(),
    observe(request, response, next) {
      const end = requests.startTimer();
      response.once('close', () => {
        const { resource = '', operation = '' } = operationOf(request) ?? {};
        end({
          http_request_method: request.method,
          // A path without a route can be any text, and each label is kept for ever.
          http_route: typeof request.route?.path === 'string' ? describePath(request) : '',
          http_response_status_code: response.statusCode,
          crud_resource: resource,
          crud_operation: operation,
        });
      });
      next();
    },
  };
}

function register({
  register: registry,
  Histogram,
  Gauge,
  Counter,
  collectDefaultMetrics,
}: typeof PromClient) {
  if (!registry.getSingleMetric(DEFAULT_METRIC)) collectDefaultMetrics();
  const requests = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the first middleware of bootstrap to the end of the answer.',
    labelNames: [
      'http_request_method',
      'http_route',
      'http_response_status_code',
      'crud_resource',
      'crud_operation',
    ],
    buckets: REQUEST_BUCKETS,
  });
  const statements = new Histogram({
    name: 'db_client_operation_duration_seconds',
    help: 'Time from sending a statement to its result.',
    labelNames: ['db_query_summary', 'error_type'],
    buckets: STATEMENT_BUCKETS,
  });
  const waits = new Histogram({
    name: 'db_client_connection_wait_time_seconds',
    help: 'Time that a statement waited before it was sent.',
    buckets: STATEMENT_BUCKETS,
  });
  const batches = new Histogram({
    name: 'db_client_operation_batch_size',
    help: 'Statements that were sent together: reads that share a connection, or writes that share a transaction.',
    buckets: [1, 2, 4, 8, 16],
  });
  const timeouts = new Counter({
    name: 'db_client_connection_timeouts_total',
    help: 'Statements that waited for a connection in vain.',
  });
  const ofPools = (
    name: string,
    help: string,
    fill: (
      gauge: PromClient.Gauge,
      pool: { db_client_connection_pool_name: string },
      usage: PoolUsage,
    ) => void,
    labels: readonly string[] = [],
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['db_client_connection_pool_name', ...labels],
      collect() {
        this.reset();
        for (const usage of poolUsage()) fill(this, { db_client_connection_pool_name: usage.pool }, usage);
      },
    });
  ofPools(
    'db_client_connection_count',
    'Connections of the pools.',
    (gauge, pool, { used, idle }) => {
      gauge.inc({ ...pool, db_client_connection_state: 'used' }, used);
      gauge.inc({ ...pool, db_client_connection_state: 'idle' }, idle);
    },
    ['db_client_connection_state'],
  );
  ofPools(
    'db_client_connection_max',
    'The most connections that the pools may have.',
    (gauge, pool, { max }) => gauge.inc(pool, max),
  );
  ofPools(
    'db_client_connection_pending_requests',
    'Statements and transactions that wait for a connection.',
    (gauge, pool, { waiting }) => gauge.inc(pool, waiting),
  );
  for (const { name, help, read } of GAUGES)
    new Gauge({
      name,
      help,
      collect() {
        this.set(read());
      },
    });
  // Operations are published for subscribers alone.
  operationChannel.start.subscribe(() => {});
  statementChannel.asyncEnd.subscribe((message) => {
    const { summary, wait, duration, batchSize, error } = message as StatementMessage;
    if (wait !== null) {
      waits.observe(wait / 1000);
      batches.observe(batchSize);
    }
    if (isAcquireTimeout(error)) timeouts.inc();
    if (duration !== null) {
      statements.observe(
        { db_query_summary: summary, error_type: error === undefined ? '' : errorType(error) },
        duration / 1000,
      );
    }
  });
  return { registry, requests };
}

function poolUsage(): readonly PoolUsage[] {
  return [...instances].flatMap((sequelize) => {
    const manager = knownManager(sequelize);
    // The connections of an engine that has ended are those of none.
    if (manager && poolsOf(manager).write._draining) instances.delete(sequelize);
    return manager && instances.has(sequelize) ? statementRunner(sequelize).usage : [];
  });
}

function isAcquireTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'SequelizeConnectionAcquireTimeoutError';
}
