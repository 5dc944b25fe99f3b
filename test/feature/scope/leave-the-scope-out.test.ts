/** The proof that tenants are kept apart can fail: wherever one step leaves the scope out, it finds that. */
// @runs once
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import express from 'express';
import type { Model } from 'sequelize';
import { type BootstrapOptions, buildApplication } from '../../../src/bootstrap.js';
import { type Endpoint, OPERATIONS, type Operation as Served } from '../../../src/declare/crud-options.js';
import { SINGLE_OF } from '../../../src/declare/endpoint.js';
import { BoundRepository } from '../../../src/execute/records/bound-repository.js';
import { type RelatedOperation, RelatedRows } from '../../../src/execute/rows/related-rows.js';
import { SqlExecutor } from '../../../src/execute/rows/sql-executor.js';
import { FEATURES } from '../../../src/features/features.js';
import { keyTableOf } from '../../../src/features/idempotency/key-table.js';
import { scope } from '../../../src/features/scope.js';
import type { FeatureFactory } from '../../../src/operation/feature.js';
import type { Operation } from '../../../src/operation/operation.js';
import type { Predicate } from '../../../src/request/query/predicate.js';
import { forSuite } from '../../support/for-suite.js';
import { listen } from '../../support/listen.js';
import { startProofGround } from '../../support/proof-ground.js';
import { judge } from '../../support/scope-judge.js';
import { wholeOr } from '../../support/short.js';
import { Card, Note, type World } from '../../support/tenant-notes.js';

/** Rows of others, which most mutants show or change. */
const BESIDE_OTHERS: readonly World[] = ['there'];
/** A route that shows nothing of others may still answer in another way where they are not there. */
const WITH_AND_WITHOUT: readonly World[] = ['there', 'absent'];

/** In short, one that reads, one that writes and one that finds first. */
const ENDPOINTS = wholeOr<readonly Endpoint[]>(
  ['list', 'create', 'update'],
  [...OPERATIONS, 'restore', 'purge', 'replace'],
);
const OF_MANY = wholeOr(['updateMany'] as const, ['updateMany', 'deleteMany'] as const);
const WITH_A_KEY = wholeOr(['update'] as const, ['create', 'update', 'delete'] as const);

/** The condition without the scope of the rows that it is on, or of those between them and their parent. */
function unscoped(predicate: Predicate, of: 'rows' | 'between'): Predicate | null {
  switch (predicate.kind) {
    case 'comparison':
      return predicate.attribute === 'owner' && of === 'rows' ? null : predicate;
    case 'exists':
      return of === 'between'
        ? { ...predicate, where: predicate.where && unscoped(predicate.where, 'rows') }
        : predicate;
    case 'or':
    case 'sql':
    case 'written':
      return predicate;
    case 'and':
      return { ...predicate, operands: predicate.operands.flatMap((each) => unscoped(each, of) ?? []) };
  }
}

/** The condition without the scope of any other table. */
function inSubqueries(predicate: Predicate, isInside = false): Predicate | null {
  switch (predicate.kind) {
    case 'comparison':
      return isInside && predicate.attribute === 'owner' ? null : predicate;
    case 'sql':
    case 'written':
      return predicate;
    case 'exists':
      return { ...predicate, where: predicate.where && inSubqueries(predicate.where, true) };
    default:
      return {
        ...predicate,
        operands: predicate.operands.flatMap((each) => inSubqueries(each, isInside) ?? []),
      };
  }
}

/** Places of a tree of relations, each identified by the columns that are read there. */
const PLACES = {
  'a record that is included': { of: 'rows', columns: 'id owner label' },
  'included rows': { of: 'rows', columns: 'id owner code' },
  'rows that are included in included ones': {
    of: 'rows',
    columns: 'id owner code points isOpen folderId deletedAt',
  },
  'the rows between included ones and their parent': { of: 'between', columns: 'id owner code' },
} as const;

/** The scope, without its effect on one endpoint. */
function without(endpoint: Endpoint): readonly FeatureFactory[] {
  const mutant: FeatureFactory = (context) => {
    const feature = scope(context);
    // A step that is left out would be that of the base.
    const rewrite = { ...feature?.rewrite, [endpoint]: (operation: Operation) => operation };
    return feature && { ...feature, rewrite };
  };
  return FEATURES.map((each) => (each === scope ? mutant : each));
}

describe('[R18] a scope that is left out', () => {
  const ground = forSuite(() => startProofGround());

  /** Runs work with repositories of every row. */
  async function withoutScopes(work: () => Promise<unknown>): Promise<void> {
    const own = Object.getOwnPropertyDescriptor(BoundRepository.prototype, 'within') as PropertyDescriptor;
    Object.defineProperty(BoundRepository.prototype, 'within', {
      ...own,
      value(this: BoundRepository<Model>) {
        return this;
      },
    });
    try {
      await work();
    } finally {
      Object.defineProperty(BoundRepository.prototype, 'within', own);
    }
  }

  /** Findings of the routes of an endpoint. */
  async function findings(
    endpoint: Served,
    features = FEATURES,
    options: BootstrapOptions = {},
    worlds: readonly World[] = BESIDE_OTHERS,
  ): Promise<string> {
    const models = [endpoint === 'replace' ? Card : Note];
    const { application, router } = buildApplication({ models, ...options }, features);
    await using listening = await listen(express().use(router));
    const routes = application.routes.filter(({ operation }) => operation === endpoint);
    return (
      await ground.findings({
        listening,
        crud: { routes, openapi: () => application.openapi() },
        worlds,
      })
    ).join('\n');
  }

  // Many new records have the route of one.
  for (const endpoint of [...ENDPOINTS, ...OF_MANY]) {
    it(`is found in ${endpoint}`, async () => {
      const single = endpoint === 'updateMany' || endpoint === 'deleteMany' ? SINGLE_OF[endpoint] : endpoint;
      const found = await findings(endpoint, without(single));
      if (endpoint === 'list' || endpoint === 'read') expect(found).to.include('shows "~');
      if (['update', 'delete', 'restore', 'purge', 'replace', 'updateMany'].includes(endpoint))
        expect(found).to.include("has changed others' rows");
      if (endpoint === 'create') expect(found).to.include('It does not say what the row belongs to');
      else expect(found).to.include('It has no condition of the scope');
    });

    it(`is found in ${endpoint} of repositories`, () =>
      withoutScopes(async () =>
        expect(await findings(endpoint, FEATURES, { fastPath: false })).to.not.equal(''),
      ));
  }

  for (const endpoint of OF_MANY) {
    it(`is found where ${endpoint} looks for rows`, () =>
      withoutScopes(async () => {
        const found = await findings(endpoint, FEATURES, {}, WITH_AND_WITHOUT);
        expect(found).to.include("differs with others' rows");
        expect(found).to.include('It has no condition of the scope');
      }));
  }

  for (const endpoint of WITH_A_KEY) {
    it(`is found in ${endpoint} with an Idempotency-Key`, async () => {
      const { sequelize } = ground.site.engine;
      await sequelize.query(keyTableOf(Note).definition.join(';'));
      const idempotency = { principal: () => randomUUID(), required: true };
      expect(await findings(endpoint, without(endpoint), { idempotency })).to.match(
        /It has no condition of the scope: WITH "crud:written"|It does not say what the row belongs to: WITH/,
      );
    });
  }

  for (const [place, { of, columns }] of Object.entries(PLACES).slice(
    0,
    wholeOr(1, Number.POSITIVE_INFINITY),
  )) {
    it(`is found in ${place}`, async () => {
      const own = Object.getOwnPropertyDescriptor(RelatedRows.prototype, 'run') as PropertyDescriptor;
      Object.defineProperty(RelatedRows.prototype, 'run', {
        ...own,
        value(this: RelatedRows, operation: RelatedOperation, ...others: unknown[]) {
          const isHere = operation.select.columns.join(' ') === columns;
          const where = isHere ? unscoped(operation.where, of) : operation.where;
          return Reflect.apply(own.value, this, [{ ...operation, where }, ...others]);
        },
      });
      try {
        const found = await findings('list', FEATURES, {}, wholeOr(BESIDE_OTHERS, WITH_AND_WITHOUT));
        expect(found).to.match(/shows "~|differs with others' rows/);
        expect(found).to.include('It has no condition of the scope');
      } finally {
        Object.defineProperty(RelatedRows.prototype, 'run', own);
      }
    });
  }

  /** Statements of lists, with another condition. */
  async function withLists(change: (where: Predicate, slots: object) => Predicate | null): Promise<string> {
    const own = Object.getOwnPropertyDescriptor(SqlExecutor.prototype, 'run') as PropertyDescriptor;
    Object.defineProperty(SqlExecutor.prototype, 'run', {
      ...own,
      value(this: SqlExecutor, operation: Operation, slots: object = {}, ...others: unknown[]) {
        const isList = operation.kind === 'list' && operation.where !== null;
        const changed = isList ? { ...operation, where: change(operation.where, slots) } : operation;
        return Reflect.apply(own.value, this, [changed, slots, ...others]);
      },
    });
    try {
      return await findings('list', FEATURES, {}, WITH_AND_WITHOUT);
    } finally {
      Object.defineProperty(SqlExecutor.prototype, 'run', own);
    }
  }

  it('is found in filters by relations', async () => {
    const found = await withLists((where) => inSubqueries(where));
    expect(found).to.include("differs with others' rows").and.to.include('It has no condition of the scope');
    expect(found).to.include('folder.label').and.to.include('tags%3D');
  });

  it('is found in a list under a record', async () => {
    const found = await withLists((where, slots) => ('parent' in slots ? unscoped(where, 'rows') : where));
    expect(found)
      .to.include('/siblings')
      .and.to.match(/shows "~|differs with others' rows/);
    expect(found).to.include('It has no condition of the scope');
  });

  it('is found in any statement on the table', () => {
    const scoped = { table: 'notes', column: 'owner', allowed: ['A', 'C'] };
    const found = (text: string, ...values: string[]) =>
      judge({ text, values }, scoped)?.split(':')[0] ?? null;
    /** An INSERT of two rows, whose owners are in one column of the source. */
    const manyOf = (column: string, owners: string) =>
      [
        'WITH ".given.0" AS MATERIALIZED (SELECT ".each".*, 1 AS k0 FROM (SELECT ".rows".n FROM unnest($1::int4[], CASE WHEN false THEN ARRAY(SELECT "owner" FROM "notes") ELSE $2 END) AS ".rows" (n, v0) ORDER BY n) AS ".each"), ' +
          `".written.0" (k0) AS (INSERT INTO "notes" ("id", "owner") OVERRIDING SYSTEM VALUE SELECT k0, ${column} FROM ".given.0" RETURNING "id") SELECT 1`,
        '{0,1}',
        owners,
      ] as const;
    /** A DELETE of the rows that a SELECT before it has found. */
    const foundBy = (found: string, written: string) =>
      [
        `WITH ".found" AS MATERIALIZED (SELECT "Note"."id" AS k0 FROM "notes" AS "Note" WHERE (${found}) FOR UPDATE), ` +
          `".written" AS (DELETE FROM "notes" AS "Note" USING ".found" WHERE (${written}) RETURNING 1) SELECT 1`,
        ...(found.includes('$1') ? ['A'] : []),
      ] as const;
    const inScope: readonly (readonly [string, ...string[]])[] = [
      ['SELECT 1 FROM "notes" WHERE "owner" = $1', 'A'],
      ['SELECT 1 FROM "notes" AS "Note" WHERE (("Note"."id" = 1) AND ("Note"."owner" = \'A\')) LIMIT 1'],
      ['SELECT 1 FROM "notes" WHERE ("a" = 1 OR "b" = 2) AND "owner" = ANY($1)', '{"A","C"}'],
      ['UPDATE "notes" SET "code" = $2 WHERE "owner" = $1 RETURNING "id"', 'A', 'x'],
      ['DELETE FROM "notes" WHERE "owner" = $1 AND "id" = 1', 'A'],
      ['INSERT INTO "notes" ("id", "owner") VALUES (DEFAULT, $1), (1, $2)', 'A', 'C'],
      ['INSERT INTO "notes" ("owner") SELECT $1::text WHERE EXISTS (SELECT 1 FROM "folders")', 'A'],
      ['SELECT ("owner" = \'A\') IS TRUE AS "is inside" FROM "notes" WHERE "id" = 1'],
      [
        'SELECT 1 FROM "folders" LEFT OUTER JOIN "notes" AS "n" ON "n"."id" = 1 AND "n"."owner" = $1 LIMIT 1',
        'A',
      ],
      ['SELECT 1 FROM "folders" WHERE "label" = \'"notes"\''],
      [
        'WITH a AS (INSERT INTO "notes" ("owner") SELECT $1 WHERE (NOT EXISTS (SELECT 1 FROM "notes" AS "N" WHERE "N"."id" = $2::int8))) ' +
          'SELECT * FROM a',
        'A',
      ],
      [
        'SELECT 1 FROM unnest(CASE WHEN false THEN ARRAY(SELECT "id" FROM "notes") ELSE $2 END) AS p(k) CROSS JOIN LATERAL ' +
          '(SELECT 1 FROM "notes" AS "Note" WHERE "Note"."id" = p.k AND ("Note"."owner" = $1) LIMIT 3) AS r ORDER BY p.k',
        'A',
      ],
      foundBy('"Note"."owner" = $1', '"Note"."id" = ".found".k0'),
      manyOf('v0', '{"A","C"}'),
    ];
    const outOfScope: readonly (readonly [string, ...string[]])[] = [
      ['SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM "notes" AS "N" WHERE "N"."id" = $2::int8)'],
      [
        'INSERT INTO "notes" ("owner") SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM "notes" AS "N" WHERE "N"."code" = $2)',
        'A',
      ],
      foundBy('"Note"."id" = 1', '"Note"."id" = ".found".k0'),
      foundBy('"Note"."owner" = $1', '"Note"."id" = 1'),
      manyOf('v0', '{"A","B"}'),
      manyOf('v1', '{"A"}'),
      ['SELECT 1 FROM "notes"'],
      ['SELECT count(*) FROM (SELECT 1 FROM "notes" WHERE "id" = 1) AS "all" WHERE "owner" = $1', 'A'],
      ['SELECT 1 FROM "notes" WHERE "id" = 1 OR "owner" = $1', 'A'],
      ['SELECT 1 FROM "notes" WHERE ("id" = 1 OR ("code" = \'x\' AND "owner" = $1))', 'A'],
      ['SELECT 1 FROM "notes" WHERE NOT ("owner" = $1)', 'A'],
      ['SELECT 1 FROM "notes" WHERE "owner" = $1', 'B'],
      ['SELECT 1 FROM "notes" WHERE "owner" = ANY($1)', '{"A","B"}'],
      ['SELECT 1 FROM "notes" WHERE "owner" = "owner"'],
      ['SELECT 1 FROM "notes" WHERE "owner" <> $1', 'A'],
      ['SELECT 1 FROM "folders" WHERE EXISTS (SELECT 1 FROM "notes" WHERE "folderId" = 1)'],
      ['SELECT 1 FROM "folders" JOIN "notes" ON true WHERE "id" = 1'],
      ['UPDATE "notes" SET "code" = $1 WHERE "id" = 1', 'A'],
      ['UPDATE "notes" SET "owner" = $1 WHERE "owner" = $1', 'A'],
      ['DELETE FROM "notes" WHERE "id" = 1'],
      ['INSERT INTO "notes" ("id") VALUES (1)'],
      ['INSERT INTO "notes" ("id", "owner") VALUES (1, $1), (2, $2)', 'A', 'B'],
      ['INSERT INTO "notes" ("owner") SELECT "owner" FROM "folders"'],
      ['WITH "all" AS (SELECT 1 FROM "notes") SELECT 1'],
      ['SELECT 1 FROM "notes" JOIN "notes" AS "other" ON true WHERE "other"."owner" = $1', 'A'],
      ['SELECT 1 FROM "folders" JOIN "notes" ON "folders"."owner" = $1', 'A'],
      ['SELECT 1 FROM "folders" JOIN "notes" ON true WHERE "owner" = $1', 'A'],
      [
        'SELECT 1 FROM unnest($2) AS p(k) CROSS JOIN LATERAL (SELECT 1 FROM "notes" WHERE "id" = p.k) AS r',
        'A',
      ],
      [
        'SELECT 1 FROM unnest($2) AS p(k) CROSS JOIN LATERAL (SELECT 1 FROM "notes") AS r WHERE "owner" = $1',
        'A',
      ],
      [
        'SELECT 1 FROM "folders" WHERE "owner" = ANY(CASE WHEN true THEN ARRAY(SELECT "owner" FROM "notes") END)',
      ],
      ['TRUNCATE "notes"'],
      ['LOCK TABLE "notes"'],
    ];
    for (const [text, ...values] of inScope) expect(found(text, ...values), text).to.equal(null);
    for (const [text, ...values] of outOfScope) expect(found(text, ...values), text).to.be.a('string');
  });
});
