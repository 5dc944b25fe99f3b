/** Conflicts over attributes that a request can neither see nor set: the answer does not name them. */
// @runs fast
import { expect } from 'chai';
import { Expose } from 'class-transformer';
import { IsOptional } from 'class-validator';
import { Column, DataType, DefaultScope, Index, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

class ReadCitizen {
  @Expose() declare id: number;
  @Expose() declare name: string;
}

class WriteCitizen {
  @Expose() @IsOptional() declare name: string;
}

class SignedCitizen extends WriteCitizen {
  @Expose() @IsOptional() declare hash: string;
}

const SCHEMAS = { readSchema: ReadCitizen, createSchema: WriteCitizen, updateSchema: WriteCitizen };

class CitizenRow extends NumberedRow {
  @Column(DataType.TEXT) declare name: string;
  @Column({ type: DataType.TEXT, defaultValue: 'h', unique: true }) declare hash: string;
}

/** None of its schemas has the hash. */
@Crud(SCHEMAS as CrudOptions)
@Table({ tableName: 'citizens', timestamps: false })
class Citizen extends CitizenRow {}

/** Bodies may have the hash. */
@Crud({ ...SCHEMAS, createSchema: SignedCitizen } as CrudOptions)
@Table({ tableName: 'signers', timestamps: false })
class Signer extends CitizenRow {}

/** The table makes the hash. */
@Crud({ readSchema: ReadCitizen, readOnly: ['hash'] } as CrudOptions)
@Table({ tableName: 'guests', timestamps: false })
class Guest extends CitizenRow {}

@DefaultScope(() => ({ attributes: { exclude: ['tenantId'] } }))
@Crud({ scope: { tenantId: () => 1 } } as CrudOptions)
@Table({ tableName: 'mailboxes', timestamps: false })
class Mailbox extends NumberedRow {
  @Index({ name: 'mailboxes_mail', unique: true }) @Column(DataType.INTEGER) declare tenantId: number;
  @Index({ name: 'mailboxes_mail', unique: true }) @Column(DataType.TEXT) declare email: string;
}

@Crud({ readSchema: ReadCitizen, set: { hash: () => 'h' } } as CrudOptions)
@Table({ tableName: 'members', timestamps: false })
class Member extends CitizenRow {}

describe('a conflict over a hidden attribute', () => {
  const site = serveTestApp(() => ({ models: [Citizen, Signer, Guest, Mailbox, Member] }));
  beforeEach(() => emptyTables(site, 'citizens', 'signers', 'guests', 'mailboxes', 'members'));
  before(() => site.engine.sequelize.query(`ALTER TABLE guests ALTER hash SET DEFAULT 'h'`));

  const conflictOf = async (path: string, body: object): Promise<readonly string[]> => {
    expect((await site.agent.post(path).send(body)).status).to.equal(201);
    const { status, body: problem } = await site.agent.post(path).send(body);
    expect(status).to.equal(409);
    const { detail, errors = [] } = problem;
    return [detail, ...errors.map(({ pointer }: { pointer: string }) => pointer)];
  };

  for (const [path, who] of Object.entries({
    '/citizens': 'no schema has',
    '/guests': 'the table makes',
    '/members': 'the server sets',
  }))
    it(`does not name one that ${who}`, async () =>
      expect(await conflictOf(path, { name: 'a' })).to.deep.equal([
        'Another record has the same unique value.',
      ]));

  it('does not name one of the scope, and names the others of its index', async () =>
    expect(await conflictOf('/mailboxes', { email: 'a' })).to.deep.equal([
      'Another Mailbox has the same email.',
      '/email',
    ]));

  it('names one that a body may have', async () =>
    expect(await conflictOf('/signers', { name: 'a', hash: 'b' })).to.deep.equal([
      'Another Signer has the same hash.',
      '/hash',
    ]));
});
