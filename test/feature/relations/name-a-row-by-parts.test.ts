/** `@ForeignKey` on an attribute for each part of a key: all of them together name one row, which the request has to see. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import { Column, DataType, ForeignKey, Model, PrimaryKey, Table } from 'sequelize-typescript';
import {
  BelongsToKey,
  Crud,
  crudController,
  EVERYTHING,
  filter,
  type ModelClass,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { SERVES_MANY } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { passingController } from '../../support/passing-controllers.js';
import { ask, TwoPaths } from '../../support/two-paths.js';

@Crud({ visible: () => filter`isPublic==true` } as object)
@Table({ tableName: 'lines', timestamps: false })
class Line extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare orderId: number;
  @PrimaryKey @Column(DataType.INTEGER) declare lineNo: number;
  @Column({ type: DataType.BOOLEAN, allowNull: false }) declare isPublic: boolean;
}

@Crud({
  endpoints: ['create', 'update', ...(SERVES_MANY ? ['createMany', 'updateMany'] : [])],
  filterAllow: ['orderId'],
} as object)
@Table({ tableName: 'notes', timestamps: false })
class Note extends NumberedRow {
  @ForeignKey(() => Line) @Column(DataType.INTEGER) declare orderId: number | null;
  @ForeignKey(() => Line) @Column(DataType.INTEGER) declare lineNo: number | null;
}

/** The same with a relation, which takes both attributes at once. */
@Crud({ endpoints: ['create', 'update'] } as object)
@Table({ tableName: 'remarks', timestamps: false })
class Remark extends NumberedRow {
  @ForeignKey(() => Line) @Column(DataType.INTEGER) declare orderId: number | null;
  @ForeignKey(() => Line) @Column(DataType.INTEGER) declare lineNo: number | null;
  @BelongsToKey(() => Line, { orderId: 'orderId', lineNo: 'lineNo' }) declare line?: Line | null;
}

const scope = { tenantId: (request: Request) => request.get('tenant') ?? EVERYTHING };

@Crud({ scope, id: ['id'], visible: () => filter`isPublic==true` } as object)
@Table({ tableName: 'customers', timestamps: false })
class Customer extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare tenantId: number;
  @PrimaryKey @Column(DataType.INTEGER) declare id: number;
  @Column({ type: DataType.BOOLEAN, allowNull: false }) declare isPublic: boolean;
}

/** Its attributes are in another order than the parts of the key. */
@Crud({ scope, endpoints: ['create', 'update'] } as object)
@Table({ tableName: 'invoices', timestamps: false })
class Invoice extends NumberedRow {
  @ForeignKey(() => Customer) @Column(DataType.INTEGER) declare customerId: number | null;
  @ForeignKey(() => Customer) @Column({ type: DataType.INTEGER, allowNull: false }) declare tenantId: number;
}

const models = [Line, Note, Remark, Customer, Invoice] as unknown as ModelClass[];

for (const isOverridden of [false, true])
  describe(`a row that is named by parts${isOverridden ? ', behind overrides' : ''}`, () => {
    const paths = forSuite(async () => {
      const controllers = isOverridden ? [passingController(crudController(Note)) as never] : [];
      const two = await TwoPaths.start({ models, bootstrap: { controllers, logger: new CapturedLog() } });
      await two.site.engine.sequelize.query(
        'ALTER TABLE notes ADD FOREIGN KEY ("orderId", "lineNo") REFERENCES lines ("orderId", "lineNo")',
      );
      return two;
    });
    const reset = () =>
      paths.site.engine.sequelize.query(`
        TRUNCATE lines, notes, remarks, customers, invoices RESTART IDENTITY;
        INSERT INTO customers VALUES (1, 7, true), (1, 8, false), (2, 8, true);
        INSERT INTO invoices ("tenantId", "customerId") VALUES (1, NULL);
        INSERT INTO lines VALUES (1, 1, true), (1, 5, false), (2, 5, true);
        INSERT INTO notes ("orderId", "lineNo") VALUES (1, 1), (NULL, NULL), (2, 5);
        INSERT INTO remarks ("orderId", "lineNo") VALUES (1, 1)`);
    const status = async (method: string, path: string, body: unknown, headers = {}) => {
      const request = { method, path, body, headers };
      const found: number[] = [];
      for (const way of [
        () => ask(paths.fast, request),
        () => ask(paths.general, request),
        () => paths.withHooks(() => ask(paths.general, request)),
      ]) {
        await reset();
        found.push((await way()).status);
      }
      expect(new Set(found).size, `${method} ${path} ${JSON.stringify(body)}: ${found.join()}`).to.equal(1);
      return found[0];
    };
    const at = (orderId: number | null, lineNo: number | null) => ({ orderId, lineNo });

    it('is one that the request sees', async () => {
      expect(await status('POST', '/notes', at(1, 1))).to.equal(201);
      expect(await status('POST', '/notes', at(1, 5))).to.equal(409);
      expect(await status('POST', '/notes', at(2, 1))).to.equal(409);
      if (!SERVES_MANY) return;
      expect(await status('POST', '/notes', [at(1, 1), at(2, 5)])).to.equal(201);
      expect(await status('POST', '/notes', [at(1, 1), at(1, 5)])).to.equal(409);
    });

    it('is none where a part is missing', async () => {
      expect(await status('POST', '/notes', at(null, 5))).to.equal(201);
      expect(await status('POST', '/notes', { orderId: 1 })).to.equal(201);
      expect(await status('POST', '/notes', { orderId: 9 })).to.equal(409);
      expect(await status('PATCH', '/notes/1', { lineNo: null })).to.equal(200);
    });

    it('has the other parts of the row that is changed', async () => {
      expect(await status('PATCH', '/notes/1', { lineNo: 5 })).to.equal(409);
      expect(await status('PATCH', '/notes/3', { orderId: 1 })).to.equal(409);
      expect(await status('PATCH', '/notes/1', at(2, 5))).to.equal(200);
      expect(await status('PATCH', '/notes/1', at(1, 5))).to.equal(409);
      expect(await status('PATCH', '/notes/2', { lineNo: 5 })).to.equal(200);
      if (!SERVES_MANY) return;
      expect(await status('PATCH', '/notes', [{ id: 1, lineNo: 5 }])).to.equal(409);
      expect(await status('PATCH', '/notes', [{ id: 1, ...at(2, 5) }])).to.equal(200);
      expect(await status('PATCH', '/notes?q=orderId==1', { lineNo: 5 })).to.equal(409);
      expect(await status('PATCH', '/notes?q=orderId==2', { lineNo: 5 })).to.equal(200);
    });

    it('is found by the parts that the scope sets', async () => {
      for (const headers of [{ tenant: '1' }, {}]) {
        const tenant = 'tenant' in headers ? {} : { tenantId: 1 };
        expect(await status('POST', '/invoices', { ...tenant, customerId: 7 }, headers)).to.equal(201);
        expect(await status('POST', '/invoices', { ...tenant, customerId: 8 }, headers)).to.equal(409);
        expect(await status('PATCH', '/invoices/1', { customerId: 7 }, headers)).to.equal(200);
        expect(await status('PATCH', '/invoices/1', { customerId: 8 }, headers)).to.equal(409);
      }
    });

    it('is sent whole where a relation says so', async () => {
      expect(await status('PATCH', '/remarks/1', { lineNo: 5 })).to.equal(422);
      expect(await status('PATCH', '/remarks/1', at(1, 5))).to.equal(409);
      expect(await status('PATCH', '/remarks/1', at(2, 5))).to.equal(200);
    });
  });
