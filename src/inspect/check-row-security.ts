/** Checks that row security holds for the roles that an application connects as. */

import { ConnectionError, QueryTypes, type Sequelize } from 'sequelize';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { identifier, quotedTable } from '../execute/sql/sql-fragment.js';
import { enginesInUse, plainManager } from '../postgres/index.js';
import { ConfigError, throwProblems } from '../util/config-error.js';
import type { Logger } from '../util/logger.js';
import { oneAtATime } from '../util/promises.js';

/** A role, and the tables that its requests see more of than policies say. */
interface RoleRow {
  readonly role: string;
  readonly isSuperuser: boolean;
  readonly bypasses: boolean;
  /** Tables whose policies hold for every role but their owner, which the role is, or is a member of. */
  readonly owned: readonly string[];
  /** Tables without row security, and views. */
  readonly open: readonly string[];
}

/** The role of the connection, whatever a pooler makes of its name, and those with the names of the parameter. */
const ROLES = `
  SELECT r.rolname::text AS role, r.rolsuper AS "isSuperuser", r.rolbypassrls AS bypasses,
    ARRAY(SELECT t.name FROM unnest($1::text[]) AS t (name) JOIN pg_class c ON c.oid = to_regclass(t.name)
      WHERE c.relrowsecurity AND NOT c.relforcerowsecurity AND pg_has_role(r.oid, c.relowner, 'USAGE')) AS owned,
    ARRAY(SELECT t.name FROM unnest($1::text[]) AS t (name) JOIN pg_class c ON c.oid = to_regclass(t.name)
      WHERE NOT c.relrowsecurity) AS open
  FROM pg_roles r WHERE r.rolname = current_user OR r.rolname = ANY($2::text[])`;

/**
 * The check of an application. No request goes on before it has succeeded, also where the database cannot be reached at the start:
 * a policy that does not hold shows every row to all requests.
 */
export class RowSecurityCheck {
  readonly #check = oneAtATime(() => this.#ask());
  #isDone = false;

  constructor(
    private readonly plans: readonly ResourcePlan[],
    private readonly logger: Logger,
  ) {}

  /** True once the check has succeeded. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /**
   * Checks at the start. Where the database cannot be reached, the next requests check it.
   *
   * @throws ConfigError for a role that policies do not hold back
   */
  async start(): Promise<void> {
    try {
      await this.#check();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      this.logger.error(
        'rls: the database could not be asked whether row security holds; requests are refused until it has answered.',
      );
    }
  }

  /**
   * Checks for a request, unless another one does so already.
   *
   * @throws ConnectionError as long as it does not succeed
   */
  async pass(): Promise<void> {
    try {
      await this.#check();
    } catch (error) {
      // It is logged with its cause.
      throw new ConnectionError(error as Error);
    }
  }

  /** Sequelize instances of the models; where no model is served, the instances of all engines. */
  #instances(): ReadonlySet<Sequelize> {
    const served = this.plans.flatMap(({ model }) => model.sequelize ?? []);
    const instances = new Set(served.length > 0 ? served : enginesInUse().map(({ sequelize }) => sequelize));
    if (instances.size === 0) throw new Error('There is no database to ask.');
    return instances;
  }

  async #ask(): Promise<void> {
    const open = new Set<string>();
    const problems = new Set<string>();
    for (const sequelize of this.#instances()) {
      const own = this.plans.filter(({ model }) => model.sequelize === sequelize);
      const tables = own.map(({ model }) => quotedTable(model));
      for (const row of await readRoles(sequelize, tables)) {
        for (const problem of problemsOf(row)) problems.add(problem);
        for (const table of row.open) open.add(table);
      }
    }
    throwProblems([...problems]);
    if (open.size > 0) {
      this.logger.warn(
        `rls: no policy holds for ${[...open].join(', ')}, of which each request sees all rows; ALTER TABLE … ENABLE ROW ` +
          'LEVEL SECURITY, and CREATE POLICY.',
      );
    }
    this.#isDone = true;
  }
}

/**
 * The roles of an instance: the current roles of a connection to the primary and of one for reads, and the names in the connections
 * to all servers for reads. A pooler may change names. A replica has the roles of the primary, and may be down.
 */
async function readRoles(sequelize: Sequelize, tables: readonly string[]): Promise<readonly RoleRow[]> {
  const { replication } = plainManager(sequelize).config;
  const servers = replication ? replication.read : [];
  const read = (useMaster: boolean): Promise<RoleRow[]> => {
    const names = servers.flatMap(({ username }) => username ?? []);
    return sequelize.query<RoleRow>(ROLES, { type: QueryTypes.SELECT, useMaster, bind: [tables, names] });
  };
  const [primary, reader] = await Promise.all([
    read(true),
    servers.length > 0 ? read(false).catch(() => []) : [],
  ]);
  return [...primary, ...reader];
}

function problemsOf({ role, isSuperuser, bypasses, owned }: RoleRow): string[] {
  const name = identifier(role);
  if (isSuperuser)
    return [
      `rls: the role ${name} is a superuser, for which no policy holds; ALTER ROLE ${name} NOSUPERUSER NOBYPASSRLS; or connect as another one.`,
    ];
  if (bypasses)
    return [`rls: the role ${name} passes every policy by; ALTER ROLE ${name} NOBYPASSRLS; mends it.`];
  return owned.map(
    (table) =>
      `rls: the role ${name} owns ${table}, whose policies do not hold for its owner; ALTER TABLE ${table} FORCE ROW LEVEL ` +
      'SECURITY; mends it.',
  );
}
