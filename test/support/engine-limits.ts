/** Limits of engines of several servers, by parts of statements, as their documentation has them. Nothing here was run on them. */
import type { Classified, Construct } from './statement-constructs.js';
import type { Binding } from './tenant-bindings.js';

/** Answers of an engine, from the best to the worst. */
export type Verdict =
  | 'as PostgreSQL'
  | 'one server'
  | 'several servers'
  | 'not said'
  | 'in part'
  | 'with a setting'
  | 'refused';

const ORDER: readonly Verdict[] = [
  'as PostgreSQL',
  'one server',
  'several servers',
  'not said',
  'in part',
  'with a setting',
  'refused',
];

/** The answer of an engine to a part of a statement. */
export interface Limit {
  readonly verdict: Verdict;
  readonly text: string;
  /** Places in the sources of its engine. */
  readonly sources: readonly string[];
}

/** An engine, and where its limits are from. */
export interface Engine {
  readonly name: string;
  readonly version: string;
  readonly sources: Readonly<Record<string, readonly [title: string, address: string]>>;
  readonly limits: Readonly<Record<Construct, Limit>>;
  /** The worst answer to the parts of a statement. Some limits depend on the values of the tenant's column. */
  judge(statement: Classified): Verdict;
}

const limit = (verdict: Verdict, text: string, ...sources: readonly string[]): Limit => ({
  verdict,
  text,
  sources,
});

/** The worst of verdicts. */
export function worst(verdicts: readonly Verdict[]): Verdict {
  return ORDER[Math.max(0, ...verdicts.map((each) => ORDER.indexOf(each)))] as Verdict;
}

const ONE_TENANT = 'supported where all tables have one value of the distribution column';
const CITUS_DOCS = 'https://docs.citusdata.com/en/v13.0/develop';
const CITUS_CODE = 'https://github.com/citusdata/citus/blob/v14.0.1';
const YUGABYTE_DOCS = 'https://docs.yugabyte.com/stable';

/** Limits that hold for a distributed table whatever the condition is. */
const ALWAYS: readonly Construct[] = [
  'trigger',
  'transition tables',
  'function that is not IMMUTABLE over a column, in a write',
  'function that is not IMMUTABLE in RETURNING',
];
/** Limits of rows that are on several servers. */
const LOCKS: readonly Construct[] = ['row lock', 'SKIP LOCKED'];
/** Limits that hold although each table has one value of the distribution column: the statement is taken apart. */
const APART: readonly Construct[] = ['WITH that writes', 'table without a tenant', 'INSERT … SELECT'];
const BINDINGS: Readonly<Record<Binding, Verdict>> = {
  one: 'one server',
  'of rows': 'several servers',
  none: 'several servers',
};

const CITUS: Engine = {
  name: 'Citus',
  version: 'documentation 13.0.1, source 14.0.1',
  sources: {
    C1: ['SQL Support and Workarounds, "Limitations"', `${CITUS_DOCS}/reference_workarounds.html`],
    C2: ['Ingesting, Modifying Data (DML)', `${CITUS_DOCS}/reference_dml.html`],
    C3: ['Creating and Modifying Distributed Objects (DDL)', `${CITUS_DOCS}/reference_ddl.html`],
    C4: [
      'Configuration Reference: `citus.propagate_set_commands`, `citus.local_table_join_policy`',
      `${CITUS_DOCS}/api_guc.html`,
    ],
    C5: [
      '`multi_router_planner.c`: `TargetlistAndFunctionsSupported`, `ErrorIfQueryHasUnroutableModifyingCTE`',
      `${CITUS_CODE}/src/backend/distributed/planner/multi_router_planner.c`,
    ],
    C6: [
      '`trigger.c`: `ErrorOutForTriggerIfNotSupported`',
      `${CITUS_CODE}/src/backend/distributed/commands/trigger.c`,
    ],
    C7: ['Changelog', `${CITUS_CODE}/CHANGELOG.md`],
  },
  limits: {
    LATERAL: limit(
      'in part',
      `${ONE_TENANT}; over several servers "unsupported lateral subqueries" are refused`,
      'C1',
      'C7',
    ),
    'WITH ORDINALITY': limit('not said', `${ONE_TENANT}`, 'C1'),
    'function in FROM': limit('not said', `${ONE_TENANT}`, 'C1'),
    'INSERT … SELECT': limit(
      'as PostgreSQL',
      'supported, where needed by way of the server that plans',
      'C2',
      'C7',
    ),
    'ON CONFLICT': limit('as PostgreSQL', 'the unique index has the distribution column', 'C2', 'C3'),
    'row lock': limit('refused', `${ONE_TENANT}; refused over several servers`, 'C1', 'C2'),
    'SKIP LOCKED': limit('not said', 'as row locks', 'C1'),
    'WITH that writes': limit(
      'in part',
      'a WITH query that inserts is never sent to one server as a whole: each part is executed by itself',
      'C5',
      'C7',
    ),
    'table without a tenant': limit(
      'in part',
      'a reference table is on each server; a local one is joined by way of the server that plans',
      'C3',
      'C4',
      'C5',
    ),
    MATERIALIZED: limit('as PostgreSQL', `${ONE_TENANT}`, 'C1'),
    'correlated subquery': limit(
      'in part',
      `${ONE_TENANT}; over several servers only where the correlation is on the distribution column`,
      'C1',
    ),
    'subquery that never runs': limit(
      'not said',
      'the condition is constant, so PostgreSQL plans no scan',
      'C1',
    ),
    nextval: limit(
      'as PostgreSQL',
      'drawn by the server that plans, never in a query that is sent to one server',
      'C5',
    ),
    ctid: limit('in part', 'refused in a write over several servers', 'C5'),
    xmin: limit('as PostgreSQL', 'system columns are supported', 'C7'),
    'transaction numbers': limit('not said', 'each server counts its own', 'C1'),
    'advisory lock': limit('not said', 'a lock of the server that the client is connected to', 'C1'),
    'function that is not IMMUTABLE over a column, in a write': limit(
      'refused',
      'refused in each UPDATE and DELETE of a distributed table',
      'C1',
      'C5',
    ),
    'function that is not IMMUTABLE in RETURNING': limit(
      'refused',
      'refused in each write of a distributed table',
      'C5',
    ),
    'settings of a transaction': limit(
      'with a setting',
      "reach the other servers with `citus.propagate_set_commands = 'local'` alone, which is about `SET LOCAL`; `set_config` is not named",
      'C4',
    ),
    savepoint: limit('as PostgreSQL', 'supported', 'C7'),
    'deferred constraints': limit('not said', 'not named', 'C3'),
    trigger: limit(
      'refused',
      'refused on distributed and reference tables, unless the schema is the unit of distribution or `citus.enable_unsafe_triggers` is set',
      'C6',
    ),
    'transition tables': limit('refused', 'as triggers', 'C6'),
    partitions: limit('as PostgreSQL', 'supported, on one level', 'C1'),
    LISTEN: limit('not said', 'not named', 'C1'),
    'prepared transaction': limit('not said', 'Citus itself commits over several servers by them', 'C4'),
  },
  judge({ constructs, tenant, isLockSpread }) {
    const counts = (each: Construct): boolean => {
      if (ALWAYS.includes(each)) return true;
      if (LOCKS.includes(each)) return isLockSpread;
      return tenant !== null && (tenant !== 'one' || APART.includes(each));
    };
    const verdicts = [...constructs].filter(counts).map((each) => this.limits[each].verdict);
    return worst(tenant === null ? verdicts : [BINDINGS[tenant], ...verdicts]);
  },
};

const LIKE_POSTGRESQL = limit('as PostgreSQL', 'not in the list of what is missing', 'Y1', 'Y2');

const YUGABYTE: Engine = {
  name: 'YugabyteDB',
  version: 'documentation of the stable releases, 2025.1 among them',
  sources: {
    Y1: [
      'PostgreSQL source database, known issues',
      `${YUGABYTE_DOCS}/yugabyte-voyager/known-issues/postgresql/`,
    ],
    Y2: [
      'Enhanced PostgreSQL Compatibility Mode, "Unsupported PostgreSQL features"',
      `${YUGABYTE_DOCS}/reference/configuration/postgresql-compatibility/`,
    ],
    Y3: ['Explicit locking', `${YUGABYTE_DOCS}/explore/transactions/explicit-locking/`],
    Y4: [
      'LISTEN, NOTIFY, and UNLISTEN',
      `${YUGABYTE_DOCS}/api/ysql/the-sql-language/statements/cmd_listen_notify/`,
    ],
    Y5: ['Savepoints', `${YUGABYTE_DOCS}/explore/ysql-language-features/advanced-features/savepoints/`],
    Y6: ['INSERT', `${YUGABYTE_DOCS}/api/ysql/the-sql-language/statements/dml_insert/`],
    Y7: ['CREATE TRIGGER', `${YUGABYTE_DOCS}/api/ysql/the-sql-language/statements/ddl_create_trigger/`],
  },
  limits: {
    LATERAL: LIKE_POSTGRESQL,
    'WITH ORDINALITY': LIKE_POSTGRESQL,
    'function in FROM': LIKE_POSTGRESQL,
    'INSERT … SELECT': limit('as PostgreSQL', 'supported', 'Y6'),
    'ON CONFLICT': limit('as PostgreSQL', 'supported', 'Y6'),
    'row lock': limit('as PostgreSQL', 'the four kinds are supported', 'Y3'),
    'SKIP LOCKED': limit('not said', 'not named', 'Y3'),
    'WITH that writes': LIKE_POSTGRESQL,
    'table without a tenant': LIKE_POSTGRESQL,
    MATERIALIZED: limit('as PostgreSQL', 'from 2.25 and 2025.1 on', 'Y1'),
    'correlated subquery': LIKE_POSTGRESQL,
    'subquery that never runs': LIKE_POSTGRESQL,
    nextval: LIKE_POSTGRESQL,
    ctid: limit('refused', 'system columns are not available', 'Y1'),
    xmin: limit('refused', 'system columns are not available', 'Y1'),
    'transaction numbers': limit('refused', 'xid and its functions are not supported', 'Y1', 'Y2'),
    'advisory lock': limit(
      'with a setting',
      'from 2.25.1 and 2025.1 on, with flags of the servers',
      'Y1',
      'Y3',
    ),
    'function that is not IMMUTABLE over a column, in a write': LIKE_POSTGRESQL,
    'function that is not IMMUTABLE in RETURNING': LIKE_POSTGRESQL,
    'settings of a transaction': LIKE_POSTGRESQL,
    savepoint: limit('as PostgreSQL', 'supported', 'Y5'),
    'deferred constraints': limit('in part', 'foreign keys alone can be deferred', 'Y1'),
    trigger: limit('as PostgreSQL', 'supported; no constraint triggers', 'Y2', 'Y7'),
    'transition tables': limit('refused', 'REFERENCING is not supported', 'Y1', 'Y2'),
    partitions: LIKE_POSTGRESQL,
    LISTEN: limit(
      'with a setting',
      'ignored with a warning, or early access with `yb_enable_listen_notify`',
      'Y1',
      'Y4',
    ),
    'prepared transaction': limit('refused', 'PREPARE TRANSACTION is not supported', 'Y1'),
  },
  judge({ constructs }) {
    return worst([...constructs].map((each) => this.limits[each].verdict));
  },
};

/** The engines of the page. */
export const ENGINES: readonly Engine[] = [CITUS, YUGABYTE];
