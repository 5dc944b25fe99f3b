/** Changes of all records that `q` finds by elements of arrays and by values inside of JSON, by either runner. */
// @runs fast
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { TwoPaths } from '../../support/two-paths.js';

@Crud({
  filterAllow: { tags: true, 'details.size': 'number' } as object,
  endpoints: ['list', 'update', 'delete', 'updateMany', 'deleteMany'],
})
@Table({ tableName: 'parcels', timestamps: false })
class Parcel extends NumberedRow {
  @Column(DataType.TEXT) declare state: string | null;
  @Column(DataType.ARRAY(DataType.TEXT)) declare tags: string[] | null;
  @Column(DataType.JSONB) declare details: unknown;
}

const PARCELS = [
  { id: 1, state: 'new', tags: ['a'], details: { size: 1 } },
  { id: 2, state: 'new', tags: ['a', 'b'], details: { size: '1' } },
  { id: 3, state: 'new', tags: [], details: null },
  { id: 4, state: 'new', tags: null, details: { size: 10 } },
];

/** The overrides of a session read decorated parameters, which endpoints for many records refuse. */
except(OF_MANY).describe('writing what a filter finds', () => {
  const paths = forSuite(() =>
    TwoPaths.start({
      models: [Parcel] as ModelClass[],
      bootstrap: { logger: new CapturedLog() },
    }),
  );

  beforeEach(reset);

  async function reset(): Promise<void> {
    await Parcel.destroy({ where: {} });
    await Parcel.bulkCreate(PARCELS as never[]);
  }

  for (const [q, ids] of [
    ['tags=contains=a', [1, 2]],
    ['tags=overlaps=(b,c)', [2]],
    ['tags=isempty=true', [3]],
    ['details.size==1', [1]],
    ['details.size>=1', [1, 4]],
    ['details.size=isnull=true', [2, 3]],
  ] as const) {
    it(`changes and deletes ${ids.length} by ${q}`, async () => {
      const path = `/parcels?${new URLSearchParams({ q })}`;
      const affected = `{"affected":${ids.length}}`;
      const changed = await paths.same({ method: 'PATCH', path, body: { state: 'old' } });
      expect([changed.status, changed.body]).to.deep.equal([200, affected]);
      const old = await Parcel.findAll({ where: { state: 'old' }, order: ['id'] });
      expect(old.map(({ id }) => id)).to.deep.equal(ids);
      const removed = await paths.same({ method: 'DELETE', path }, reset);
      expect([removed.status, removed.body]).to.deep.equal([200, affected]);
    });
  }
});
