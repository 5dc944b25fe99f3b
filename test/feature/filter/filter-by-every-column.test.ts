/** `filterAllow: '*'` and `sortAllow: '*'`: every column that can, and nothing that answers do not show. */
import { expect } from 'chai';
import { Exclude, Expose, Transform } from 'class-transformer';
import { Column, DataType, HasMany, Table } from 'sequelize-typescript';
import { type BootstrapOptions, Crud, filter, type ModelClass } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY, UNGUARDED } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud<Card>({
  filterAllow: '*',
  sortAllow: '*',
  fields: { salary: { read: false }, bonus: { read: (request) => request.get('hr') === 'yes' } },
  include: { parts: UNGUARDED },
})
@Table({ tableName: 'cards', timestamps: false, defaultScope: { attributes: { exclude: ['scoped'] } } })
class Card extends KeyedRow {
  @Column(DataType.STRING(5)) declare text: string | null;
  @Column(DataType.TEXT) declare place: string | null;
  @Column(DataType.BLOB) declare bytes: Buffer | null;
  @Column(DataType.ARRAY(DataType.INTEGER)) declare list: number[] | null;
  @Column({ type: DataType.INTEGER, field: 'other name' }) declare 'my size': number | null;
  @Exclude() @Column(DataType.TEXT) declare secret: string | null;
  @Column(DataType.TEXT) declare scoped: string | null;
  @Column(DataType.INTEGER) declare salary: number | null;
  @Column(DataType.INTEGER) declare bonus: number | null;
  @Column({
    type: DataType.TEXT,
    get() {
      return '…';
    },
  })
  declare masked: string | null;
  @Transform(() => '…') @Column(DataType.TEXT) declare shaped: string | null;
  @Column(DataType.VIRTUAL) declare made: string | null;
  @HasMany(() => Part, { foreignKey: 'cardId', constraints: false }) declare parts?: Part[];
}

class PartRead {
  @Expose() id!: number;
  @Expose() cardId!: number;
  @Expose() name!: string;
  @Expose() @Transform(() => '…') code!: string;
}

@Crud({ filterAllow: '*', sortAllow: '*', readSchema: PartRead, visible: () => filter`id=ge=0` })
@Table({ tableName: 'parts', timestamps: false })
class Part extends KeyedRow {
  @Column(DataType.INTEGER) declare cardId: number;
  @Column(DataType.TEXT) declare name: string;
  @Column(DataType.TEXT) declare code: string;
  @Column(DataType.TEXT) declare note: string;
}

@Crud({ filterAllow: '*' })
@Table({ tableName: 'forms', timestamps: false })
class Form extends KeyedRow {
  override toJSON() {
    return { id: this.id };
  }
}

const HIDDEN =
  'secret (@Exclude() hides it), scoped (the default scope hides it), salary (fields hides it), ' +
  'masked (code makes what answers show of it), shaped (code makes what answers show of it), made (it has no column)';
const SAME = 'my size (its name cannot be spelled), ';

except(OF_MANY).describe("'*'", () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({ models: [Card, Part, Form], bootstrap: { models: [Part], logger } }));

  async function start(models: readonly ModelClass[], options: BootstrapOptions = {}) {
    logger.clear();
    return (await buildApp({ models, logger, ...options })).agent;
  }

  before(() =>
    site.engine.sequelize.query(`
      CREATE INDEX ON parts ("cardId", id);
      ALTER TABLE cards ALTER text TYPE text, ALTER place TYPE point USING NULL;
      INSERT INTO cards (id, text, place, list, bonus) VALUES (1, '${'x'.repeat(1000)}', '(1,2)', '{1,2}', 7), (2, 'b', NULL, NULL, NULL);
      INSERT INTO parts VALUES (1, 1, 'wheel', 'w', 'n'), (2, 1, 'axle', 'a', 'n')`),
  );

  it('is every attribute that answers show as it is, and the start tells the others with the reason', async () => {
    const agent = await start([Card, Part]);
    const told = logger.lines.filter(({ level }) => level === 'info');
    expect(told.map(({ message }) => message)).to.deep.equal([
      `Card: filterAllow: '*' leaves out ${SAME}${HIDDEN}.`,
      `Card: sortAllow: '*' leaves out place (point has no order), bytes (blob has no order), list (array has no order), ${HIDDEN}.`,
      "Part: filterAllow: '*' leaves out code (code makes what answers show of it), note (the readSchema lacks it).",
      "Part: sortAllow: '*' leaves out code (code makes what answers show of it), note (the readSchema lacks it).",
    ]);
    const choices = async (query: object, hr = 'no') =>
      (await agent.get('/cards').set('hr', hr).query(query)).body.errors[0].allowed;
    expect(await choices({ q: 'x==1' })).to.deep.equal(['id', 'text', 'place', 'bytes', 'list']);
    expect(await choices({ sort: 'x' })).to.deep.equal(['id', 'text', 'my size']);
    expect(await choices({ q: 'x==1' }, 'yes')).to.include('bonus');
    for (const hidden of [
      'secret',
      'scoped',
      'salary',
      'masked',
      'changed',
      'made',
      'bonus',
      'parts',
      'my size',
    ])
      expect((await agent.get('/cards').query({ q: `${hidden}=isnull=true` })).status, hidden).to.equal(400);
    expect((await agent.get('/parts').query({ q: 'note==n' })).status).to.equal(400);
  });

  it('finds by each operator of the columns, and orders by their values', async () => {
    const agent = await start([Card, Part]);
    const ids = async (query: object) => {
      const { body } = await agent.get('/cards').query(query);
      return body.items?.map(({ id }: Card) => id) ?? body;
    };
    for (const [q, found] of [
      ['place=isnull=false', [1]],
      ['bytes=isnull=true', [1, 2]],
      ['list=contains=2', [1]],
      ['text=gt=a;text=lt=c', [2]],
    ] as const)
      expect(await ids({ q }), q).to.deep.equal(found);
    expect(await ids({ sort: '-text' })).to.deep.equal([1, 2]);
    expect(await ids({ sort: '-id' })).to.deep.equal([2, 1]);
    const included = await agent
      .get('/cards/1?include=parts&parts.q=name==axle&parts.sort=-name')
      .expect(200);
    expect(included.body.parts.items.map(({ id }: Part) => id)).to.deep.equal([2]);
  });

  it('is as long in a filter as the column, whatever the model says', async () => {
    const agent = await start([Card, Part]);
    const found = await agent.get('/cards').query({ q: `text==${'x'.repeat(1000)}`, fields: 'id' });
    expect(found.body.items).to.deep.equal([{ id: 1 }]);
    await site.engine.sequelize.query('ALTER TABLE parts ALTER name TYPE varchar(300)');
    const short = await start([Part]);
    expect((await short.get('/parts').query({ q: `name==${'é'.repeat(300)}` })).body.items).to.deep.equal([]);
    const detail = `'${'é'.repeat(40)}…' is outside the range of 'name'.`;
    expectProblem(await short.get('/parts').query({ q: `name==${'é'.repeat(301)}` }), 400, {
      detail,
      errors: [{ parameter: 'q', code: 'q.range', detail, position: 6 }],
    });
  });

  it('asks for no index of each column', async () => {
    const sql = (await start([Part, Card])) && logger.text;
    expect(sql).to.not.match(/index serves .*(?:filterAllow|sortAllow)/);
  });

  it('is refused where toJSON decides what is shown', async () =>
    expect(await configProblems(() => start([Form]))).to.deep.equal([
      "Form: filterAllow is '*', and toJSON or get of the model decides what answers show; name the attributes.",
    ]));
});
