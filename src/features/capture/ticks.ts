/**
 * Ticks: stored snapshots of the database. The events of a tick are those that its snapshot sees and the one before does not. So no event is
 * lost that commits late, and the changes of a row stay in their order.
 */
import type { Sequelize, Transaction } from 'sequelize';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { hasState, MISSING_TABLE } from '../../errors/database-fault.js';
import {
  DatabaseSession,
  inTransaction,
  STATEMENT_SNAPSHOTS,
} from '../../execute/session/database-session.js';
import { selectValues } from '../../execute/session/select-values.js';
import { joinSql, raw, type SqlFragment, sql } from '../../execute/sql/sql-fragment.js';
import { NO_SLOTS, type Slots } from '../../execute/sql/statement.js';
import { onPrimary, type StatementTarget, statementRunner } from '../../postgres/index.js';
import { changeTables } from './change-table.js';

/** A stored snapshot. */
export interface Tick {
  /** Ascending. */
  readonly n: number;
  /** As PostgreSQL writes it: the lowest transaction that is under way, the first one that has not begun, and all that are under way. */
  readonly snap: string;
}

/** The newest tick that reads see. */
export interface Beat {
  readonly latest: Tick;
  /** True where there is a newer one, which has not arrived where reads go. */
  readonly isBehind: boolean;
  /** True where a tick that was known before is there no more: the database is another one, or has lost commits. */
  readonly isLost: boolean;
}

/** Columns of a tick. */
const TICK = raw('t.n::text AS c0, t.snap::text AS c1');

/** A row of texts. */
export type Texts = readonly (string | null)[];

/** Part of a transaction's advisory lock; the other part is the table of ticks. */
const LOCK = '1129468244';

/** Snapshot that sees nothing. */
const NOTHING = '1:1:';

/** The ticks of the database of some models, and the statements about them. */
export class Ticks {
  readonly changes: SqlFragment;
  readonly ticks: SqlFragment;
  readonly #sequelize: Sequelize;

  /** @param isFast whether our SQL may run outside of Sequelize's queries */
  constructor(
    private readonly info: ResourcePlan['info'],
    private readonly isFast: boolean,
  ) {
    const { changes, ticks } = changeTables(info.model);
    this.changes = raw(changes);
    this.ticks = raw(ticks);
    this.#sequelize = info.model.sequelize as Sequelize;
  }

  /** Reads texts, where reads go: a replica may be behind. */
  read(fragment: SqlFragment, slots: Slots = NO_SLOTS): Promise<readonly Texts[]> {
    return this.#select(fragment, slots, this.isFast ? statementRunner(this.#sequelize) : null);
  }

  /** The same on the primary. */
  readNow(fragment: SqlFragment, slots: Slots = NO_SLOTS): Promise<readonly Texts[]> {
    if (this.isFast) return this.#select(fragment, slots, onPrimary(statementRunner(this.#sequelize)));
    return inTransaction(this.#sequelize, 'write', (within) => this.#select(fragment, slots, null, within));
  }

  /**
   * Finds the newest tick that reads see, and makes one where events have committed since. A replica may be behind, and who reads a record
   * because of an event would get the state before it.
   *
   * @param known a tick that has to be there
   */
  async beat(known: Tick | null): Promise<Beat> {
    const { latest: newest, isLost } = await this.#beatNow(known);
    const kept = isLost ? null : known;
    if (kept?.n === newest.n) return { latest: kept, isBehind: false, isLost };
    const arrived = (await this.#arrived(newest)) ?? (await this.oldest());
    // With several replicas, another one may have been asked before.
    const latest = kept && (arrived?.n ?? 0) < kept.n ? kept : (arrived ?? newest);
    return { latest, isBehind: latest.n < newest.n, isLost };
  }

  /** The newest tick up to another one that has arrived where reads go; undefined where none has. */
  async #arrived({ n }: Tick): Promise<Tick | undefined> {
    const statement = sql`SELECT ${TICK} FROM ${this.ticks} AS t WHERE ${VALID} AND t.n <= ${String(n)}::int8 ORDER BY t.n DESC LIMIT 1`;
    const [row] = await this.read(statement).catch((error: unknown) => {
      // The table itself may not have arrived.
      if (!hasState(error, MISSING_TABLE)) throw error;
      return [];
    });
    return row && tickOf(row);
  }

  /** The same on the primary. */
  async #beatNow(known: Tick | null): Promise<Omit<Beat, 'isBehind'>> {
    const [found] = await this.readNow(this.#probe(known));
    if (found && found[2] !== 'true') return beatOf(found, known);
    // Before there is any, all wait for the first one.
    const made = await this.#make(found === undefined);
    if (made) return { latest: made, isLost: found ? beatOf(found, known).isLost : known !== null };
    // Another process makes it now.
    const [again] = await this.readNow(this.#probe(known));
    if (!again) throw new Error(`The table ${this.#name} has lost its ticks.`);
    return beatOf(again, known);
  }

  /** The first tick behind which no event is older than the retentions. */
  oldest(retentions: readonly string[] = []): Promise<Tick | undefined> {
    return this.#find(sql`NOT ${this.#isOld(retentions)}`);
  }

  /** The tick behind another one, so many later; undefined where there are fewer. */
  behind({ n }: Tick, count: number): Promise<Tick | undefined> {
    return this.#find(sql`t.n > ${String(n)}::int8`, count - 1);
  }

  /** A tick by its number, as long as no event behind it is older than the retentions; undefined for any other. */
  find(n: number, retentions: readonly string[]): Promise<Tick | undefined> {
    return this.#find(sql`t.n = ${String(n)}::int8 AND NOT ${this.#isOld(retentions)}`);
  }

  /** True in SQL where an event behind the tick `t` is older than the retentions. */
  #isOld(retentions: readonly string[]): SqlFragment {
    if (retentions.length === 0) return raw('false');
    const shortest = joinSql(
      retentions.map((each) => sql`${each}::interval`),
      ', ',
    );
    const later = sql`SELECT l.at FROM ${this.ticks} AS l WHERE l.n > t.n ORDER BY l.n LIMIT 1`;
    return sql`coalesce((${later}) < clock_timestamp() - least(${shortest}), false)`;
  }

  /** True in SQL where the server that executes it has a tick, and with it all events that the tick sees. */
  has({ n }: Tick): SqlFragment {
    return sql`EXISTS (SELECT FROM ${this.ticks} AS t WHERE t.n = ${String(n)}::int8)`;
  }

  /** Events between two ticks: two ranges of an index, also while a transaction is open for long. */
  between(from: Tick, to: Tick, columns: SqlFragment, condition: SqlFragment): SqlFragment {
    const [, begin = '', open = ''] = from.snap.split(':');
    const [, end = ''] = to.snap.split(':');
    const select = sql`SELECT ${columns} FROM ${this.changes} AS c WHERE ${condition} AND pg_visible_in_snapshot(c.xid, ${to.snap}::pg_snapshot)`;
    const late = sql`${select} AND c.xid >= ${begin}::xid8 AND c.xid < ${end}::xid8`;
    if (open === '') return late;
    return joinSql([late, sql`${select} AND c.xid = ANY(${`{${open}}`}::xid8[])`], ' UNION ALL ');
  }

  async #find(condition: SqlFragment, offset = 0): Promise<Tick | undefined> {
    const [row] = await this.readNow(
      sql`SELECT ${TICK} FROM ${this.ticks} AS t WHERE ${VALID} AND ${condition} ORDER BY t.n OFFSET ${raw(String(offset))} LIMIT 1`,
    );
    return row && tickOf(row);
  }

  /** @param waits whether another process that makes one is waited for */
  async #make(waits: boolean): Promise<Tick | null> {
    const session = new DatabaseSession(this.#sequelize, 'write', { ...STATEMENT_SNAPSHOTS, settings: null });
    return session.run(async () => {
      const within = await session.begin();
      const on = this.isFast ? onPrimary(statementRunner(this.#sequelize).within(within)) : null;
      // A statement of its own: the snapshot of the next one is younger than the lock.
      const [lock] = await this.#select(this.#lock(waits), NO_SLOTS, on, within);
      if (lock?.[0] !== 'true') return null;
      const made = await this.#select(this.#insert, NO_SLOTS, on, within);
      const last = made.at(-1);
      return last ? tickOf(last) : null;
    });
  }

  /** A tick, and all that it sees, survives a crash, although writes may not wait for the disk: its commit does. */
  #lock(waits: boolean): SqlFragment {
    const key = sql`(${LOCK}::int4, ${this.#name}::regclass::oid::int4)`;
    const lock = waits
      ? sql`(SELECT true FROM pg_advisory_xact_lock${key})`
      : sql`pg_try_advisory_xact_lock${key}`;
    return sql`SELECT ${lock}::text AS c0, CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END AS c1`;
  }

  get #name(): string {
    return this.ticks.texts[0] ?? '';
  }

  get #insert(): SqlFragment {
    const { ticks } = this;
    const last = sql`SELECT t.snap FROM ${ticks} AS t WHERE ${VALID} ORDER BY t.n DESC LIMIT 1`;
    const first = sql`SELECT 1 AS turn, ${NOTHING}::pg_snapshot AS snap WHERE NOT EXISTS (SELECT FROM ${ticks})`;
    const next = sql`SELECT 2, pg_current_snapshot() WHERE NOT EXISTS (SELECT FROM (${last}) AS t WHERE NOT (${this.#pending}))`;
    return sql`INSERT INTO ${ticks} (snap) SELECT s.snap FROM (${first} UNION ALL ${next}) AS s ORDER BY s.turn RETURNING n::text AS c0, snap::text AS c1`;
  }

  #probe(known: Tick | null): SqlFragment {
    const still = known
      ? sql`(SELECT k.snap::text FROM ${this.ticks} AS k WHERE k.n = ${String(known.n)}::int8)`
      : raw('NULL');
    return sql`SELECT ${TICK}, (${this.#pending})::text AS c2, ${still} AS c3 FROM ${this.ticks} AS t WHERE ${VALID} ORDER BY t.n DESC LIMIT 1`;
  }

  /** True in SQL where an event has committed that the snapshot of `t` does not see. */
  get #pending(): SqlFragment {
    const { changes } = this;
    const late = sql`SELECT FROM ${changes} AS c WHERE c.xid >= pg_snapshot_xmax(t.snap) AND c.xid < pg_snapshot_xmax(pg_current_snapshot())`;
    const open = sql`SELECT FROM ${changes} AS c WHERE c.xid = ANY (ARRAY(SELECT pg_snapshot_xip(t.snap)))`;
    return sql`EXISTS (${late}) OR EXISTS (${open})`;
  }

  #select(
    fragment: SqlFragment,
    slots: Slots,
    on: StatementTarget | null,
    within: Transaction | null = null,
  ): Promise<readonly Texts[]> {
    return selectValues(this.info, fragment, slots, on, within) as Promise<readonly Texts[]>;
  }
}

/**
 * True in SQL for a tick that was made in this cluster: its own transaction is younger than its snapshot. In one that was restored from a
 * dump, transactions have other numbers.
 */
const VALID = raw('((t.xmin::text::int8 - pg_snapshot_xmax(t.snap)::text::int8) & 4294967295) < 2147483648');

function tickOf([n, snap]: Texts): Tick {
  return Object.freeze({ n: Number(n), snap: String(snap) });
}

function beatOf(row: Texts, known: Tick | null): Omit<Beat, 'isBehind'> {
  return { latest: tickOf(row), isLost: known !== null && row[3] !== known.snap };
}
