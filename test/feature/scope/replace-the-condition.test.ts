/** A hook that replaces the condition of a request finds no rows of others: the query is refused, and the log names the hook. */
import { expect } from 'chai';
import { type FindOptions, Op, type WhereOptions } from 'sequelize';
import { BeforeCount, BeforeFind, Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { serveTestApp } from '../../support/test-app.js';

type Change = (options: FindOptions) => void;

@Crud({
  endpoints: ['list', 'read', 'update', 'delete'],
  scope: { owner: () => 1 },
  filterAllow: ['size'],
})
@Table({ tableName: 'parcels', timestamps: false })
class Parcel extends KeyedRow {
  @Column(DataType.INTEGER) declare owner: number;
  @Column(DataType.INTEGER) declare size: number;

  static change: Change = () => {};

  @BeforeFind
  @BeforeCount
  static narrow(options: FindOptions): void {
    Parcel.change(options);
  }
}

const ROWS = [
  { id: 1, owner: 1, size: 1 },
  { id: 2, owner: 1, size: 2 },
  { id: 3, owner: 2, size: 1 },
];

describe('a hook that changes the condition of a request', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({ models: [Parcel], bootstrap: { logger, indexAdvice: false } }));

  beforeEach(async () => {
    Parcel.change = () => {};
    await Parcel.truncate();
    await Parcel.bulkCreate(ROWS);
    logger.clear();
  });

  const send = () => [
    site.agent.get('/parcels'),
    site.agent.get('/parcels?q=size==1'),
    site.agent.get('/parcels/3'),
    site.agent.patch('/parcels/3').send({ size: 9 }),
  ];

  it('adds to it', async () => {
    const small = { size: { [Op.lt]: 2 } };
    for (const added of [
      (where: object) => ({ ...where, ...small }),
      (where: object) => [where, small],
      (where: object) => ({ [Op.and]: [small, where] }),
    ]) {
      Parcel.change = (options) => {
        options.where = added(options.where ?? {}) as WhereOptions;
      };
      const [list, filtered, other, changed] = await Promise.all(send());
      expect(list?.body).to.deep.include({ total: 1 });
      expect(filtered?.body.items.map(({ id }: Parcel) => id)).to.deep.equal([1]);
      expect([other?.status, changed?.status]).to.deep.equal([404, 404]);
    }
  });

  for (const [name, change] of Object.entries<Change>({
    'puts another in its place': (options) => {
      options.where = { size: 1 };
    },
    'makes it one of two': (options) => {
      options.where = { [Op.or]: [options.where ?? {}, { size: 1 }] } as WhereOptions;
    },
    'empties it': (options) => {
      options.where = {};
    },
    'takes it away': (options) => {
      delete options.where;
    },
  })) {
    it(`${name} is refused, and told with the mend`, async () => {
      Parcel.change = change;
      for (const sent of send()) expect((await sent).status).to.equal(500);
      const [line] = logger.lines;
      expect(String(line?.details['stack']).split('\n')[0]).to.match(
        /^TypeError: A hook beforeFind of Parcel has put another condition in the place of options\.where, .* write options\.where = \{ \.\.\.options\.where, … \}\.$/,
      );
      Parcel.change = () => {};
      expect(await Parcel.findAll({ order: ['id'], raw: true })).to.deep.equal(ROWS);
    });
  }
});
