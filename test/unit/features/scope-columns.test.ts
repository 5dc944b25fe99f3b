import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { columnsRead } from '../../../src/features/capture/scope-columns.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const { info } = planOf(
  defineModel('User', {
    role: DataTypes.TEXT,
    name: DataTypes.TEXT,
    passwordHash: { type: DataTypes.TEXT, field: 'password_hash' },
  }),
);

/** Conditions, and the columns that they read; null is the whole row. */
const CONDITIONS: readonly (readonly [condition: string, columns: readonly string[] | null])[] = [
  [`"User"."role" = 'user'`, ['role']],
  [`"User"."role" = 'it''s "name"' AND "User"."name" IS NOT NULL`, ['role', 'name']],
  [`"User"."role" = E'\\'name' OR role > $$ "name" $$`, ['role']],
  ['ROLE = 1 -- "name\n AND "password_hash" IS NULL', ['role', 'password_hash']],
  ['/* name */ "User" . role = 1', ['role']],
  ['"ROLE" = 1', []],
  [`"User"."role"::name = 'a' AND "User"."name" = 'b'`, ['role', 'name']],
  ['EXISTS (SELECT 1 FROM posts p WHERE p.name = "User"."role")', ['role']],
  ['(SELECT count(*) FROM posts) * 2 & 1 > role', ['role']],
  [`to_jsonb("User") ->> 'name' = 'a'`, null],
  ['"User".* IS NOT NULL', null],
  ['"User".full_name = 1', null],
  [`U&"\\0072ole" = 1`, null],
  [`"User"."role" = 'a`, null],
  ['"User"."role', null],
];

describe('the columns that a default scope reads', () => {
  for (const [condition, columns] of CONDITIONS)
    it(`are known: ${condition}`, () => {
      expect(columnsRead(info, condition)).to.deep.equal(columns);
    });
});
