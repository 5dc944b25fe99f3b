/** Code of the user's on resources whose records several attributes address: overrides, injected ids and records. */
import { expect } from 'chai';
import { Get, Post } from 'routing-controllers';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  crudController,
  InjectId,
  InjectRecord,
  InjectRepository,
  type ReadQuery,
  type Repository,
  type UpdateValues,
} from '../../../src/index.js';
import { addedHook } from '../../support/added-hook.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'order_lines', timestamps: false })
class OrderLine extends Model {
  @PrimaryKey @Column({ type: DataType.INTEGER, field: 'order_id' }) declare orderId: number;
  @PrimaryKey @Column({ type: DataType.STRING(9), field: 'line_no' }) declare lineNo: string;
  @Column(DataType.INTEGER) declare quantity: number | null;
}

type LineId = { readonly orderId: number; readonly lineNo: string };

/** The ids that overrides were called with. */
const seen: unknown[] = [];
function see(method: string, id: object): void {
  seen.push([method, id, Object.isFrozen(id)]);
}

class OrderLineController extends crudController(OrderLine) {
  override read(id: LineId, query: ReadQuery, context: CrudContext<OrderLine>) {
    see('read', id);
    return super.read(id, query, context);
  }
  override async update(id: LineId, values: UpdateValues<OrderLine>, context: CrudContext<OrderLine>) {
    see('update', id);
    const { quantity } = await context.repository.get(id);
    return super.update(id, { quantity: Number(quantity) + Number(values.quantity) }, context);
  }
  override remove({ orderId, lineNo }: LineId, context: CrudContext<OrderLine>) {
    see('remove', { orderId, lineNo });
    return super.remove({ lineNo, orderId }, context);
  }
  @Get('/:id/siblings')
  async siblings(@InjectId() id: LineId, @InjectRepository(OrderLine) lines: Repository<OrderLine>) {
    see('siblings', id);
    return { count: await lines.count({ where: { orderId: id.orderId } }) };
  }
  @Post('/:id/double')
  double(@InjectRecord() line: OrderLine) {
    return line.update({ quantity: Number(line.quantity) * 2 });
  }
}

const HOOKS = ['beforeFind', 'beforeSave', 'beforeDestroy', 'beforeBulkDestroy'];

describe('code of a resource that several attributes address', () => {
  const site = serveTestApp(() => ({
    models: [OrderLine],
    bootstrap: { controllers: [OrderLineController], indexAdvice: false },
  }));

  beforeEach(async () => {
    seen.length = 0;
    await site.engine.sequelize.query(
      `DELETE FROM order_lines;
         INSERT INTO order_lines VALUES (1, 'a', 5), (1, 'b', 6), (2, 'a', 7)`,
    );
  });
  const rowsOf = async (table: string) =>
    (await site.engine.sequelize.query(`SELECT * FROM ${table} ORDER BY 1, 2`))[0].map((row) =>
      Object.values(row as object).join(),
    );

  for (const [name, hooks] of [
    ['our SQL', []],
    ['Sequelize', HOOKS],
  ] as const)
    it(`has the id as a frozen object, and takes it, by ${name}`, async () => {
      using _hook = addedHook(OrderLine, hooks);
      const id = { orderId: 1, lineNo: 'b' };
      expectJson(await site.agent.get('/order-lines/1,b'), 200, { ...id, quantity: 6 });
      expectJson(await site.agent.patch('/order-lines/1,b').send({ quantity: 10 }), 200, {
        ...id,
        quantity: 16,
      });
      expectJson(await site.agent.get('/order-lines/1,b/siblings'), 200, { count: 2 });
      expectJson(await site.agent.post('/order-lines/1,b/double'), 200, { ...id, quantity: 32 });
      expectNothing(await site.agent.delete('/order-lines/2,a'), 204);
      expectProblem(await site.agent.post('/order-lines/2,a/double'), 404, {
        detail: 'There is no OrderLine with this orderId,lineNo.',
      });
      expect(seen).to.deep.equal([
        ['read', id, true],
        ['update', id, true],
        ['siblings', id, true],
        ['remove', { orderId: 2, lineNo: 'a' }, false],
      ]);
      expect(await rowsOf('order_lines')).to.deep.equal(['1,a,5', '1,b,32']);
    });
});
