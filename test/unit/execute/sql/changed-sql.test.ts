/** What the conditions mean is tested against PostgreSQL in `equal-paths.test.ts`; here, that each type has its own. */
import { expect } from 'chai';
import type { ColumnType } from '../../../../src/describe/column-type.js';
import { changedSql } from '../../../../src/execute/sql/changed-sql.js';
import { raw } from '../../../../src/execute/sql/sql-fragment.js';
import { toStatement } from '../../../../src/execute/sql/statement.js';

const CASES: readonly (readonly [type: ColumnType, sql: string])[] = [
  [{ kind: 'string', maxLength: 5 }, '"a"::text IS DISTINCT FROM $1::text'],
  [{ kind: 'bigint' }, '"a"::text IS DISTINCT FROM $1::text'],
  [{ kind: 'float', maximum: 1 }, '"a"::text::float8 IS DISTINCT FROM $1::float8'],
  [{ kind: 'date' }, `date_trunc('milliseconds', "a") IS DISTINCT FROM $1::timestamptz`],
  [{ kind: 'json' }, `coalesce("a"::jsonb, 'null') IS DISTINCT FROM coalesce($1::jsonb, 'null')`],
  [
    { kind: 'array', element: { kind: 'uuid' } },
    'to_jsonb("a") IS DISTINCT FROM to_jsonb(CASE WHEN false THEN "a" ELSE $1 END)',
  ],
  [
    { kind: 'array', element: { kind: 'array', element: { kind: 'decimal', precision: null, scale: null } } },
    'to_jsonb("a"::text[]) IS DISTINCT FROM to_jsonb($1::text[])',
  ],
  [{ kind: 'boolean' }, '"a" IS DISTINCT FROM $1'],
];

describe('changedSql', () => {
  for (const [type, sql] of CASES) {
    it(`compares ${type.kind === 'array' ? `arrays of ${type.element.kind}` : type.kind}`, () => {
      expect(toStatement(changedSql(type, raw('"a"'), '5'))).to.deep.equal({ text: sql, values: ['5'] });
    });
  }
});
