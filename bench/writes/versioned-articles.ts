/** The data: the articles, each with a version, and the keys of requests. */
import { COLUMNS as ARTICLE_COLUMNS } from '../contenders/support/statements.js';
import { fillStatements as fillArticles, ROWS } from '../load/article.js';
import { ORDER_TABLES, RESTORING_ORDERS } from './orders.js';

/** Records of a request that writes many. */
export const BATCH = 100;

/** Batches that have no row in common. */
export const BATCHES = ROWS / BATCH;

/** The columns of an answer, in their order. */
export const COLUMNS = `${ARTICLE_COLUMNS}, version`;

/** Of those that are written by hand. */
export const KEYS = 'request_keys';

/** Articles whose changes are stored. */
export const KEPT = 'kept_articles';

export function fillStatements(): readonly string[] {
  return [
    ...fillArticles(ROWS),
    'ALTER TABLE articles ADD version integer NOT NULL DEFAULT 0',
    `CREATE TABLE ${KEYS} (
       scope text COLLATE "C" NOT NULL,
       key text COLLATE "C" NOT NULL,
       fingerprint text NOT NULL,
       status smallint NOT NULL,
       answer text NOT NULL,
       created_at timestamptz NOT NULL DEFAULT now(),
       PRIMARY KEY (scope, key)
     )`,
    `CREATE INDEX ON ${KEYS} (created_at)`,
    `CREATE TABLE ${KEPT} (LIKE articles INCLUDING ALL)`,
    `INSERT INTO ${KEPT} SELECT * FROM articles`,
    ...ORDER_TABLES,
  ];
}

/** Every row is in the same state again, so that requests know the tag of each. */
export const RESTORING = [
  'UPDATE articles SET version = 0 WHERE version <> 0',
  "DO $$ BEGIN IF to_regclass('crud_changes') IS NOT NULL THEN TRUNCATE crud_changes; END IF; END $$",
  ...RESTORING_ORDERS,
] as const;

/** The tag of a row that nothing has changed. */
export const FIRST_TAG = '"0"';

/** The ids of a batch of rows all over the table. */
export function idsOf(batch: number): readonly number[] {
  return Array.from({ length: BATCH }, (_, index) => batch + 1 + index * BATCHES);
}

/** The ids from the first to before the second one: a batch of rows side by side. */
export function rangeOf(batch: number): readonly [from: number, to: number] {
  return [batch * BATCH + 1, (batch + 1) * BATCH + 1];
}
