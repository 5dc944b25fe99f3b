import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import type { DatabaseFault } from '../../../src/errors/database-fault.js';
import { refusedAttributes } from '../../../src/errors/refused-attributes.js';
import { defineModel, infoOf } from '../../support/offline-models.js';

const User = defineModel(
  'User',
  {
    email: { type: DataTypes.STRING, unique: true },
    nickname: { type: DataTypes.STRING, field: 'nick', unique: 'nick_in_team' },
    teamId: { type: DataTypes.INTEGER, field: 'team_id', unique: 'nick_in_team' },
    age: DataTypes.INTEGER,
  },
  {
    tableName: 'users',
    indexes: [
      { unique: true, fields: ['team_id', 'age'] },
      { unique: true, name: 'one_age', fields: [{ name: 'age' }] },
      { unique: true, name: 'by_attribute', fields: ['teamId'] },
      { unique: true, name: 'lower_email', fields: [{ name: 'lower(email)' }] },
    ],
  },
);
const info = infoOf(User);

function refused(names: Partial<DatabaseFault>): readonly string[] {
  const fault = {
    kind: 'unique',
    constraint: null,
    table: null,
    column: null,
    isRetryable: false,
    violations: [],
    ...names,
  } as const;
  return refusedAttributes(info, fault);
}

describe('refusedAttributes', () => {
  for (const [label, names, expected] of [
    ['no name', {}, []],
    ['a column', { column: 'age' }, ['age']],
    ['a column under another name', { column: 'team_id' }, ['teamId']],
    ['a column in this table', { column: 'age', table: 'users' }, ['age']],
    ['a column in another table', { column: 'age', table: 'teams' }, []],
    ['a column that nobody knows', { column: 'stranger' }, []],
    ['the primary key', { constraint: 'users_pkey' }, ['id']],
    ['a unique column, as PostgreSQL names it', { constraint: 'users_email_key' }, ['email']],
    ['a unique column, as Sequelize names it', { constraint: 'users_email_unique' }, ['email']],
    ['a foreign key', { constraint: 'users_team_id_fkey' }, ['teamId']],
    ['a check', { constraint: 'users_age_check' }, ['age']],
    ['several unique columns, by their own name', { constraint: 'nick_in_team' }, ['nickname', 'teamId']],
    [
      'several unique columns, as PostgreSQL names them',
      { constraint: 'users_nick_team_id_key' },
      ['nickname', 'teamId'],
    ],
    ['an index that Sequelize names', { constraint: 'users_team_id_age' }, ['teamId', 'age']],
    ['an index with a name', { constraint: 'one_age' }, ['age']],
    ['an index of an attribute', { constraint: 'by_attribute' }, ['teamId']],
    ['an index of an expression', { constraint: 'lower_email' }, []],
    ['a constraint that nobody knows', { constraint: 'stranger' }, []],
    ['a property of every object', { constraint: 'constructor' }, []],
    ['a constraint of another table', { constraint: 'users_age_check', table: 'teams' }, []],
    ['a column before a constraint', { column: 'age', constraint: 'users_email_key' }, ['age']],
    ['a constraint after an unknown column', { column: 'x', constraint: 'users_email_key' }, ['email']],
  ] as const) {
    it(`finds [${expected}] for ${label}`, () => expect(refused(names)).to.deep.equal(expected));
  }
});
