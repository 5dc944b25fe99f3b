/** Methods that a model has in the place of Sequelize's, and hooks of included records: every write of a record runs them. */
import { expect } from 'chai';
import type { DestroyOptions, InstanceDestroyOptions } from 'sequelize';
import { Column, DataType, ForeignKey, HasMany, HasOne, Model, Table } from 'sequelize-typescript';
import { Crud, type CrudContext, crudController, Repository } from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY, SERVES_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

const MANY = SERVES_MANY ? (['createMany', 'updateMany', 'deleteMany'] as const) : [];
const ALL = ['list', 'read', 'create', 'update', 'delete', ...MANY] as const;

/** Methods that ran, in order. */
const ran: string[] = [];

/** A class between the model and Sequelize, with a method of its own. */
abstract class Guarded extends NamedRow {
  override async destroy(options?: InstanceDestroyOptions): Promise<void> {
    ran.push(`destroy ${this.name}${options?.force ? ' for good' : ''}`);
    if (this.name === 'kept') throw new Error('It is booked.');
    await super.destroy(options);
    if (this.name === 'late') throw new Error('It is booked after all.');
  }
}

@Crud({ endpoints: ALL, filterAllow: ['name'] })
@Table({ tableName: 'invoices', timestamps: false })
class Invoice extends Guarded {}

@Crud({ endpoints: [...ALL, 'restore', 'purge'], filterAllow: ['name'] })
@Table({ tableName: 'orders', paranoid: true, version: true })
class Order extends Guarded {
  override async save(options?: never): Promise<this> {
    ran.push(`save ${this.name}`);
    return super.save(options);
  }

  override async restore(options?: never): Promise<void> {
    ran.push(`restore ${this.name}`);
    return super.restore(options);
  }
}

@Crud({ endpoints: ALL, filterAllow: ['name'] })
@Table({ tableName: 'receipts', timestamps: false })
class Receipt extends NamedRow {
  // A field of each record.
  override save = async (options?: never): Promise<this> => {
    ran.push(`save ${this.name}`);
    await Model.prototype.save.call(this, options);
    if (this.name === 'bad') throw new Error('It is not right.');
    return this;
  };
}

@Crud({ endpoints: ALL, filterAllow: ['name'] })
@Table({ tableName: 'payments', timestamps: false })
class Payment extends Guarded {
  static override async destroy(options?: DestroyOptions): Promise<number> {
    ran.push('static destroy');
    // biome-ignore lint/complexity/noThisInStatic: the model is the one that it is called on
    return super.destroy({ ...options, individualHooks: true });
  }
}

@Crud({ endpoints: ALL, filterAllow: ['name'] })
@Table({ tableName: 'debts', timestamps: false })
class Debt extends NamedRow {
  /** As in JavaScript, whose compiler misses no number. */
  static override async destroy(options?: DestroyOptions): Promise<never> {
    // biome-ignore lint/complexity/noThisInStatic: the model is the one that it is called on
    await super.destroy(options);
    return undefined as never;
  }
}

@Crud({ endpoints: ALL, filterAllow: ['name'] })
@Table({ tableName: 'ships', timestamps: false })
class Ship extends NamedRow {
  @HasMany(() => Cabin, { onDelete: 'CASCADE', hooks: true }) declare cabins: Cabin[];
  @HasOne(() => Anchor, { onDelete: 'cascade', hooks: true }) declare anchor: Anchor | null;
}

@Table({ tableName: 'cabins', timestamps: false })
class Cabin extends NamedRow {
  @ForeignKey(() => Ship) @Column(DataType.INTEGER) declare shipId: number;
}

@Table({ tableName: 'anchors', timestamps: false })
class Anchor extends Guarded {
  @ForeignKey(() => Ship) @Column(DataType.INTEGER) declare shipId: number;
}

@Crud({
  endpoints: ALL,
  filterAllow: ['name'],
  scope: { tenant: (request) => Number(request.get('x-tenant') ?? 1) },
})
@Table({ tableName: 'parcels', timestamps: false })
class Parcel extends Guarded {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number;

  override async destroy(options?: InstanceDestroyOptions): Promise<void> {
    if (this.name !== 'archived') return super.destroy(options);
    this.setDataValue('tenant', 2);
    await this.save(options);
  }
}

@Crud({ endpoints: ALL, filterAllow: ['name'] })
@Table({ tableName: 'tickets', timestamps: false })
class Ticket extends Guarded {}

class TicketController extends crudController(Ticket) {
  override async remove(id: number, context: CrudContext<Ticket>): Promise<void> {
    ran.push('override');
    return super.remove(id, context);
  }
}

const MODELS = [Invoice, Order, Receipt, Payment, Debt, Ship, Cabin, Anchor, Parcel, Ticket] as const;
const SERVED = [Invoice, Order, Receipt, Payment, Debt, Ship, Parcel];
const ofMany = except(OF_MANY);

describe('methods of a model', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => {
    const bootstrap = {
      models: SERVED,
      controllers: [TicketController],
      logger,
      indexAdvice: false,
    };
    return { models: MODELS, bootstrap };
  });

  const failed = { detail: 'Internal Server Error' };

  before(async () => {
    Cabin.addHook('beforeDestroy', ({ name }: Cabin) => void ran.push(`hook of ${name}`));
  });

  beforeEach(async () => {
    await emptyTables(site, 'cabins', 'anchors', ...MODELS.map(({ tableName }) => tableName));
    ran.length = 0;
  });

  describe('that destroy a record', () => {
    it('run for a DELETE, and may refuse it', async () => {
      await Invoice.bulkCreate([{ name: 'kept' }, { name: 'free' }]);
      expectProblem(await site.agent.delete('/invoices/1'), 500, failed);
      expectNothing(await site.agent.delete('/invoices/2'), 204);
      expectProblem(await site.agent.delete('/invoices/3'), 404, {
        detail: 'There is no Invoice with this id.',
      });
      expect(ran).to.deep.equal(['destroy kept', 'destroy free']);
      expect((await Invoice.findAll()).map(({ name }) => name)).to.deep.equal(['kept']);
    });

    it('are undone where they throw after the row is gone', async () => {
      await Invoice.create({ name: 'late' });
      expectProblem(await site.agent.delete('/invoices/1'), 500, failed);
      expect(await Invoice.count()).to.equal(1);
    });

    ofMany.it('run for each row that a filter finds, together or not at all', async () => {
      await Invoice.bulkCreate([{ name: 'a' }, { name: 'b' }, { name: 'kept' }]);
      expectProblem(await site.agent.delete('/invoices?q=name=in=(a,kept)'), 500, failed);
      expect(await Invoice.count()).to.equal(3);
      expectJson(await site.agent.delete('/invoices?q=name=in=(a,b)&dry_run=true'), 200, { affected: 2 });
      expect(await Invoice.count()).to.equal(3);
      expectJson(await site.agent.delete('/invoices?q=name=in=(a,b)'), 200, { affected: 2 });
      expect(ran).to.deep.equal([
        ...['destroy a', 'destroy kept'],
        ...['destroy a', 'destroy b'],
        ...['destroy a', 'destroy b'],
      ]);
      expect(await Invoice.count()).to.equal(1);
    });

    it('run for repositories and overrides', async () => {
      await Ticket.bulkCreate([{ name: 'one' }, { name: 'two' }]);
      expectNothing(await site.agent.delete('/tickets/1'), 204);
      await new Repository(Ticket).delete(2);
      expect(ran).to.deep.equal(['override', 'destroy one', 'destroy two']);
      expect(await Ticket.count()).to.equal(0);
    });

    it('run for a soft delete and a purge, as the ones do that save and restore', async () => {
      await Order.create({ name: 'o' });
      ran.length = 0;
      expectNothing(await site.agent.delete('/orders/1'), 204);
      expect((await site.agent.post('/orders/1/restore')).status).to.equal(200);
      expectNothing(await site.agent.delete('/orders/1'), 204);
      expect(await Order.count({ paranoid: false })).to.equal(1);
      expectNothing(await site.agent.delete('/orders/1/purge'), 204);
      expect(ran).to.deep.equal([
        ...['destroy o', 'save o', 'restore o', 'save o', 'destroy o', 'save o'],
        'destroy o for good',
      ]);
      expect(await Order.count({ paranoid: false })).to.equal(0);
    });

    it('run for each row that a job purges', async () => {
      await Order.bulkCreate([{ name: 'a' }, { name: 'b' }, { name: 'kept' }]);
      await Order.update({ deletedAt: new Date(0) }, { where: { name: ['a', 'b'] }, paranoid: false });
      ran.length = 0;
      expect(await new Repository(Order).purge({ before: new Date() })).to.equal(2);
      expect(ran).to.deep.equal(['destroy a for good', 'destroy b for good']);
      expect(await Order.count({ paranoid: false })).to.equal(1);
    });

    it('run inside a static one, and hooks of the record once', async () => {
      Payment.addHook('beforeBulkDestroy', 'own', () => void ran.push('beforeBulkDestroy'));
      Payment.addHook('beforeDestroy', 'own', () => void ran.push('beforeDestroy'));
      Payment.addHook('afterDestroy', 'own', () => void ran.push('afterDestroy'));
      await Payment.create({ name: 'p' });
      expectNothing(await site.agent.delete('/payments/1'), 204);
      expect(ran).to.deep.equal([
        'static destroy',
        'beforeBulkDestroy',
        'destroy p',
        'beforeDestroy',
        'afterDestroy',
      ]);
      expect(await Payment.count()).to.equal(0);
    });

    it('are named in the log where a static one returns no number, and undone', async () => {
      await Debt.create({ name: 'd' });
      const paths = SERVES_MANY ? ['/debts/1', '/debts?q=name==d'] : ['/debts/1'];
      for (const path of paths) {
        logger.clear();
        expectProblem(await site.agent.delete(path), 500, failed);
        expect(logger.text).to.contain('The static destroy of Debt returns undefined');
        expect(await Debt.count()).to.equal(1);
      }
    });

    it('stay in the scope of a request', async () => {
      await Parcel.bulkCreate([
        { tenant: 1, name: 'mine' },
        { tenant: 2, name: 'theirs' },
        { tenant: 1, name: 'archived' },
      ]);
      expectProblem(await site.agent.delete('/parcels/2'), 404, {
        detail: 'There is no Parcel with this id.',
      });
      expectNothing(await site.agent.delete('/parcels/1'), 204);
      expect(ran).to.deep.equal(['destroy mine']);
      await site.agent.delete('/parcels/3');
      expect((await Parcel.findAll({ order: ['id'] })).map(({ id, tenant }) => [id, tenant])).to.deep.equal([
        [2, 2],
        [3, 1],
      ]);
    });
  });

  it('that save a record are undone where they throw after the row is written', async () => {
    await Receipt.create({ name: 'good' });
    ran.length = 0;
    expectProblem(await site.agent.post('/receipts').send({ name: 'bad' }), 500, failed);
    expectProblem(await site.agent.patch('/receipts/1').send({ name: 'bad' }), 500, failed);
    expectJson(await site.agent.patch('/receipts/1').send({ name: 'new' }), 200, { id: 1, name: 'new' });
    expect(ran).to.deep.equal(['save bad', 'save bad', 'save new']);
    expect((await Receipt.findAll()).map(({ name }) => name)).to.deep.equal(['new']);
  });

  describe('of what a record takes along', () => {
    beforeEach(async () => {
      await Ship.bulkCreate([{ name: 'a' }, { name: 'b' }]);
      await Cabin.bulkCreate([
        { shipId: 1, name: 'c1' },
        { shipId: 1, name: 'c2' },
        { shipId: 2, name: 'c3' },
      ]);
      await Anchor.create({ shipId: 2, name: 'kept' });
    });

    it('run with its hooks, and may refuse all of it', async () => {
      expectNothing(await site.agent.delete('/ships/1'), 204);
      expectProblem(await site.agent.delete('/ships/2'), 500, failed);
      expect(ran).to.deep.equal(['hook of c1', 'hook of c2', 'hook of c3', 'destroy kept']);
      expect((await Cabin.findAll()).map(({ name }) => name)).to.deep.equal(['c3']);
      expect((await Ship.findAll()).map(({ name }) => name)).to.deep.equal(['b']);
    });

    ofMany.it('run for what a filter finds', async () => {
      await Anchor.update({ name: 'free' }, { where: {} });
      expectJson(await site.agent.delete('/ships?q=name=in=(a,b)'), 200, { affected: 2 });
      expect(ran).to.deep.equal(['hook of c1', 'hook of c2', 'hook of c3', 'destroy free']);
      expect(await Ship.count()).to.equal(0);
    });
  });
});
