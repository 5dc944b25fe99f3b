/** Schemas of the user's own in place of the derived ones. */

import { expect } from 'chai';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import {
  IsArray,
  IsEmail,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { type CreationAttributes, fn, QueryTypes } from 'sequelize';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import {
  type Class,
  Crud,
  type CrudContext,
  createSchema,
  crudController,
  readSchema,
} from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'customers', timestamps: false })
class Customer extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.BIGINT) declare id: string;
  @Column({ type: DataType.STRING(40), allowNull: false }) declare email: string;
  @Column({ type: DataType.STRING(10), allowNull: false, defaultValue: 'free' }) declare plan: string;
  @Column(DataType.DECIMAL(8, 2)) declare balance: string | null;
  @Column(DataType.DATE) declare since: Date | null;
  @Column(DataType.JSONB) declare address: unknown;

  @Column({ type: DataType.STRING(80), allowNull: false, defaultValue: '' })
  declare passwordHash: string;
}

class Address {
  @IsString() declare street: string;
  @IsOptional() @IsArray() @IsString({ each: true }) declare lines?: string[];
  @Expose() declare note?: string;

  /** Not declared, so no client may send it; the class may have it all the same. */
  country = 'nowhere';
}

class CustomerView {
  @Expose() declare id: string;
  @Expose() declare email: string;
  @Expose() declare balance: string | null;
  @Expose() declare since: Date | null;
  @Expose({ name: 'type' }) declare plan: string;

  @Expose()
  get domain(): string {
    return this.email.slice(this.email.indexOf('@') + 1);
  }

  @Exclude() declare passwordHash: string;
  @Exclude() declare address: unknown;
}

class CustomerSignUp {
  @IsEmail()
  @Transform(({ value }) => (typeof value === 'string' ? value.toLowerCase() : value))
  declare email: string;

  @IsNotEmpty() @MaxLength(20) declare password: string;
  @IsOptional() @ValidateNested() @Type(() => Address) declare address?: Address;
}

class CustomerChange {
  @IsIn(['free', 'paid']) @IsOptional() declare plan?: string;
  @IsInt() @Min(0) @IsOptional() declare balance?: number;
}

/** Extends the class of a model that no engine has yet. */
class Short extends readSchema(Customer) {
  @Exclude() declare passwordHash: string;
  @Exclude() declare address: unknown;
  @Exclude() declare since: unknown;
}

class Invitation extends createSchema(Customer) {
  @IsNotEmpty() declare invitedBy: string;
}

/** Its transformation makes an expression of SQL, and no value of the column. */
class Located {
  @IsEmail() declare email: string;

  @IsOptional()
  @Transform(({ value }) => fn('jsonb_build_object', 'street', value))
  declare address?: unknown;
}

class Placed extends Located {
  @IsString() declare id: string;
}

class Moved {
  @IsOptional()
  @Transform(({ value }) => fn('jsonb_build_object', 'street', value))
  declare address?: unknown;
}

class CustomerController extends crudController(Customer, {
  readSchema: CustomerView,
  createSchema: CustomerSignUp,
  updateSchema: CustomerChange,
}) {
  override create(values: CreationAttributes<Customer>, context: CrudContext<Customer>): Promise<Customer> {
    const { password, ...rest } = values as unknown as CustomerSignUp;
    return super.create({ ...rest, passwordHash: [...password].reverse().join('') }, context);
  }
}

const SINCE = '2026-01-31T08:00:00.000Z';
const ANN = { id: '1', email: 'ann@a.example', domain: 'a.example' };
const VIEW = { ...ANN, balance: '1.50', since: SINCE, type: 'free' };

describe('bringing your own schema', () => {
  const site = serveTestApp(() => ({
    models: [Customer],
    bootstrap: { controllers: [CustomerController] },
  }));

  const rows = () => site.engine.sequelize.query('SELECT * FROM customers', { type: QueryTypes.SELECT });
  const serve = (options: { readSchema?: Class; createSchema?: Class; updateSchema?: Class }) => {
    class Customers extends crudController(Customer, options) {}
    return buildApp({ models: [Customer], controllers: [Customers] }).then(({ agent }) => agent);
  };

  beforeEach(async () => {
    await emptyTables(site, 'customers');
    const since = new Date(SINCE);
    await Customer.create({ email: 'ann@a.example', balance: '1.5', since, passwordHash: 'secret' });
  });

  describe('for what leaves', () => {
    it('[C6] shows what the class shows and nothing else, in records, lists and the answers to changes', async () => {
      expectJson(await site.agent.get('/customers/1'), 200, VIEW);
      expect((await site.agent.get('/customers')).body.items).to.deep.equal([VIEW]);
      const paid = { ...VIEW, type: 'paid' };
      expectJson(await site.agent.patch('/customers/1').send({ plan: 'paid' }), 200, paid);
    });

    it('may extend the derived class before an engine has the model', async () => {
      const agent = await serve({ readSchema: Short });
      const short = { id: '1', email: 'ann@a.example', plan: 'free', balance: '1.50' };
      expectJson(await agent.get('/customers/1'), 200, short);
    });
  });

  describe('for what a create takes', () => {
    it('gives the method the values as the class made them', async () => {
      const address = { street: 'Main', lines: ['2'], note: 'x' };
      const body = { email: 'BOB@b.example', password: 'pass', address };
      const response = await site.agent.post('/customers').send(body);
      const bob = { id: '2', email: 'bob@b.example', balance: null, since: null };
      expectJson(response, 201, { ...bob, type: 'free', domain: 'b.example' });
      expect((await rows()).at(1)).to.deep.equal({
        ...bob,
        plan: 'free',
        address: { ...address, country: 'nowhere' },
        passwordHash: 'ssap',
      });
    });

    it('may extend the derived class before an engine has the model', async () => {
      class Invitations extends crudController(Customer, { createSchema: Invitation }) {
        override create(values: CreationAttributes<Customer>, context: CrudContext<Customer>) {
          const { invitedBy, ...rest } = values as CreationAttributes<Customer> & Invitation;
          return super.create({ ...rest, address: { invitedBy } }, context);
        }
      }
      const { agent } = await buildApp({ models: [Customer], controllers: [Invitations] });
      const wrong = await agent.post('/customers').send({ email: 'x'.repeat(41) });
      const told = wrong.body.errors.map(
        (each: Record<string, string>) => `${each['pointer']} ${each['code']}`,
      );
      expect(told).to.have.members(['/email maxLength', '/invitedBy isNotEmpty']);
      const { body } = await agent.post('/customers').send({ email: 'bob@b.example', invitedBy: 'ann' });
      expect(body).to.deep.include({ id: '2', balance: null, address: { invitedBy: 'ann' } });
    });

    it('refuses what the class does not have, though the model does', async () => {
      const body = { email: 'bob@b.example', password: 'pass', plan: 'paid', passwordHash: 'x', id: '7' };
      const { body: answer, status } = await site.agent.post('/customers').send(body);
      expect(status).to.equal(422);
      expect(answer.errors).to.deep.equal(
        ['plan', 'passwordHash', 'id'].map((name) => ({
          pointer: `/${name}`,
          code: 'readOnly',
          detail: `${name} cannot be set.`,
        })),
      );
    });

    it('refuses what breaks the class, all of it', async () => {
      const sent = { email: 'nobody', password: 'p'.repeat(21) };
      const tooLong = 'password must be shorter than or equal to 20 characters.';
      expectProblem(await site.agent.post('/customers').send(sent), 422, {
        detail: 'The body has 2 problems.',
        errors: [
          { pointer: '/email', code: 'isEmail', detail: 'email must be an email.' },
          { pointer: '/password', code: 'maxLength', detail: tooLong },
        ],
      });
    });

    it('points into objects inside the body', async () => {
      const address = { street: 1, lines: ['xyz', 2], evil: true, country: 'mine' };
      const body = { email: 'bob@b.example', password: 'pass', address };
      const response = await site.agent.post('/customers').send(body);
      expect(response.status).to.equal(422);
      expect(response.body.errors).to.have.deep.members([
        { pointer: '/address/street', code: 'isString', detail: 'street must be a string.' },
        { pointer: '/address/lines', code: 'isString', detail: 'each value in lines must be a string.' },
        ...['evil', 'country'].map((name) => ({
          pointer: `/address/${name}`,
          code: 'unknownProperty',
          detail: 'There is no such property. The properties are street, lines, note.',
        })),
      ]);
      expect(await rows()).to.have.lengthOf(1);
    });

    it('refuses another kind of value where an object is wanted', async () => {
      for (const address of ['Main', 5, [1]]) {
        const body = { email: 'bob@b.example', password: 'pass', address };
        const { status } = await site.agent.post('/customers').send(body);
        expect(status, JSON.stringify(address)).to.equal(422);
      }
    });
  });

  describe('for what an update takes', () => {
    it('writes what is given', async () =>
      expectJson(await site.agent.patch('/customers/1').send({ balance: 7 }), 200, {
        ...VIEW,
        balance: '7.00',
      }));

    for (const [what, name, value, code, detail] of [
      ['refuses the rest', 'email', 'bob@b.example', 'readOnly', 'email cannot be set.'],
      ['refuses what breaks the class', 'balance', -1, 'min', 'balance must not be less than 0.'],
      ['leaves what the class lets pass', 'plan', null, 'is_null', 'Customer.plan cannot be null'],
    ] as const) {
      it(what, async () => {
        const answer = await site.agent.patch('/customers/1').send({ [name]: value });
        expectIssue(answer, 422, { pointer: `/${name}`, code, detail });
      });
    }
  });

  describe('for what only Sequelize can write', () => {
    const stored = async () => (await Customer.findByPk('2'))?.address;
    const bob = (street: string) => ({ email: 'bob@b.example', address: street });

    it('writes it in a create and an update', async () => {
      const agent = await serve({ createSchema: Located, updateSchema: Moved });
      const created = await agent.post('/customers').send(bob('Main'));
      expect([created.status, created.body.address]).to.deep.equal([201, { street: 'Main' }]);
      expect(await stored()).to.deep.equal({ street: 'Main' });
      const updated = await agent.patch('/customers/2').send({ address: 'Side' });
      expect([updated.status, updated.body.address]).to.deep.equal([200, { street: 'Side' }]);
      expect(await stored()).to.deep.equal({ street: 'Side' });
    });

    it('writes it in a replacement', async () => {
      class Customers extends crudController(Customer, { endpoints: ['replace'], createSchema: Placed }) {}
      const { agent } = await buildApp({ models: [Customer], controllers: [Customers] });
      for (const [status, street] of [
        [201, 'Main'],
        [200, 'Side'],
      ] as const) {
        const answer = await agent.put('/customers/2').send(bob(street));
        expect([answer.status, answer.body.address]).to.deep.equal([status, { street }]);
        expect(await stored()).to.deep.equal({ street });
      }
    });
  });
});
