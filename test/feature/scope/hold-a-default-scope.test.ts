/** The condition of a default scope holds on each route, however it is written, and beside any condition of a request. */
import { expect } from 'chai';
import { col, literal, Op, type WhereOptions, where } from 'sequelize';
import { Column, DataType, DefaultScope, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions, type ModelClass, Repository } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { addedHook } from '../../support/added-hook.js';
import { CapturedLog } from '../../support/captured-log.js';
import {
  except,
  OF_MANY,
  SERVES_AGGREGATES,
  SERVES_EXPORTS,
  SERVES_MANY,
} from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

const MANY = SERVES_MANY ? (['updateMany', 'deleteMany'] as const) : [];

const SEEN = [1, 3, 4, 6];
const hidden = (id: number) => !SEEN.includes(id);
const keys = { [Op.notIn]: [2, 5] };

interface Parcel extends KeyedRow {
  slug: string;
}

/** The models, by the form of the condition. */
const PARCELS: Readonly<Record<string, ModelClass<Parcel> & { readonly path: string }>> = {
  literal: parcels('Literal', () => literal('"hidden" IS NOT TRUE OR "hidden" IS NULL')),
  comparison: parcels('Comparison', () => where(col('hidden'), { [Op.not]: true })),
  list: parcels('List', () => [{ hidden: { [Op.not]: true } }]),
  key: parcels('Key', () => ({ id: keys })),
  'list of keys': parcels('Keys', () => ({ id: SEEN })),
  conjunction: parcels('Conjunction', () => ({ [Op.and]: [{ id: keys }] })),
  'address in paths': parcels('Address', () => ({ slug: { [Op.notIn]: ['s2', 's5'] } }), { id: 'slug' }),
  'literal beside a scope': parcels('Scoped', () => literal('"hidden" IS NOT TRUE'), {
    scope: { tenant: () => 1 },
  }),
};

function parcels(modelName: string, condition: () => WhereOptions, options: CrudOptions = {}) {
  @Crud({
    prefix: `/${modelName}`,
    pagination: 'cursor',
    filterAllow: '*',
    sortAllow: '*',
    pageSize: { default: 2 },
    endpoints: ['list', 'read', 'create', 'update', 'delete', 'restore', 'purge', ...MANY],
    can: { deleted: () => true },
    ...(SERVES_AGGREGATES ? { aggregate: { path: 'all-sums', group: ['size'] } } : {}),
    ...(SERVES_EXPORTS ? { export: ['csv'] as const } : {}),
    ...(options as object),
  })
  @DefaultScope(() => ({ where: condition() }))
  @Table({
    modelName,
    tableName: `parcels ${modelName}`,
    timestamps: true,
    createdAt: false,
    updatedAt: false,
    paranoid: true,
  })
  class Row extends KeyedRow {
    static readonly path = `/${modelName}`;
    @Column({ type: DataType.TEXT, unique: true, allowNull: false }) declare slug: string;
    @Column(DataType.BOOLEAN) declare hidden: boolean;
    @Column(DataType.INTEGER) declare tenant: number;
    @Column(DataType.INTEGER) declare size: number;
  }
  return Row;
}

describe('the condition of a default scope', () => {
  const site = serveTestApp(() => ({
    models: Object.values(PARCELS),
    bootstrap: { indexAdvice: false, logger: new CapturedLog() },
  }));

  for (const [form, Row] of Object.entries(PARCELS)) {
    describe(`that is a ${form}`, () => {
      const { path } = Row;
      const pathOf = (id: number) => `${path}/${path === '/Address' ? `s${id}` : id}`;
      const stored = () => Row.unscoped().findAll({ order: ['id'], raw: true, paranoid: false });
      const idsOf = async (query: string) => {
        const { body } = await site.agent.get(`${path}?${query}`).expect(200);
        return body.items.map(({ id }: Parcel) => id);
      };

      beforeEach(async () => {
        await Row.unscoped().destroy({ where: {}, force: true });
        await Row.bulkCreate(
          [1, 2, 3, 4, 5, 6].map((id) => ({
            id,
            slug: `s${id}`,
            hidden: hidden(id),
            tenant: 1,
            size: id % 2,
          })),
        );
      });

      it('holds beside a filter, and behind a cursor', async () => {
        expect(await idsOf('size=9')).to.deep.equal(SEEN);
        expect(await idsOf('size=9&q=id=in=(1,2,3)')).to.deep.equal([1, 3]);
        expect(await idsOf('q=id==2')).to.deep.equal([]);
        expect(await idsOf('q=slug==s2')).to.deep.equal([]);
        const { body } = await site.agent.get(`${path}?size=1`).expect(200);
        expect(await idsOf(`size=9&after=${body.next_cursor}`)).to.deep.equal(SEEN.slice(1));
        if (SERVES_EXPORTS) {
          const { text } = await site.agent.get(`${path}?format=csv&fields=id&q=id=lt=4`).expect(200);
          expect(text).to.equal('id\r\n1\r\n3\r\n');
        }
        if (!SERVES_AGGREGATES) return;
        const { body: sums } = await site.agent.get(`${path}/all-sums?q=id=lt=4`).expect(200);
        expect(sums.items).to.deep.equal([{ group: {}, count: 2 }]);
      });

      it('holds for one record', async () => {
        const rows = await stored();
        await site.agent.get(pathOf(1)).expect(200);
        await site.agent.get(pathOf(2)).expect(404);
        await site.agent.patch(pathOf(2)).send({ size: 9 }).expect(404);
        await site.agent.delete(pathOf(2)).expect(404);
        expect(await stored()).to.deep.equal(rows);
        await Row.unscoped().update({ deletedAt: new Date() }, { where: { id: [1, 2] } });
        await site.agent.get(`${pathOf(2)}?deleted=with`).expect(404);
        await site.agent.post(`${pathOf(2)}/restore`).expect(404);
        await site.agent.delete(`${pathOf(2)}/purge`).expect(404);
        await site.agent.post(`${pathOf(1)}/restore`).expect(200);
        expect((await stored()).map(({ id }) => id)).to.deep.equal([1, 2, 3, 4, 5, 6]);
      });

      for (const isHooked of [false, true]) {
        except(OF_MANY).it(
          `holds for many records${isHooked ? ', each of which has hooks' : ''}`,
          async () => {
            using _ = isHooked ? addedHook(Row, 'beforeDestroy', () => {}) : undefined;
            await site.agent.patch(`${path}?q=id=le=2`).send({ size: 7 }).expect(200, { affected: 1 });
            await site.agent.delete(`${path}?q=id=ge=5`).expect(200, { affected: 1 });
            expect(await stored()).to.containSubset([
              { id: 1, size: 7 },
              { id: 2, size: 0, deletedAt: null },
              { id: 5, size: 1, deletedAt: null },
            ]);
            await site.agent.delete(pathOf(3)).expect(204);
            expect(await idsOf('size=9')).to.deep.equal([1, 4]);
          },
        );
      }

      it('holds for a repository, beside a condition of its caller', async () => {
        const repository = new Repository(Row);
        for (const asked of [
          { id: [1, 2] },
          literal('"id" < 3'),
          { [Op.and]: [{ id: [1, 2] }] },
          [{ id: [1, 2] }],
        ])
          expect((await repository.list({ where: asked as never })).map(({ id }) => id)).to.deep.equal([1]);
      });
    });
  }
});
