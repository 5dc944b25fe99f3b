/** Aggregates of one tenant: the same bytes whatever rows and values it may not see, by each route and each executor. */
// @runs fast
import { expect } from 'chai';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, dbSession, filter, Repository } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except } from '../../support/combination.js';
import { type Dice, dice } from '../../support/dice.js';
import { forSuite } from '../../support/for-suite.js';
import { wholeOr } from '../../support/short.js';
import { TwoPaths } from '../../support/two-paths.js';

@Crud({
  scope: { tenant: (request) => request.get('Tenant') },
  subresources: ['tickets'],
  sortAllow: ['name', 'plan'],
  fields: { plan: { read: (request) => request.get('Role') === 'staff' } },
})
@Table({ tableName: 'boards', timestamps: false })
class Board extends NumberedRow {
  @Column(DataType.TEXT) declare tenant: string;
  @Column(DataType.TEXT) declare name: string;
  @Column(DataType.TEXT) declare plan: string;
  @HasMany(() => Ticket) declare tickets: Ticket[];
}

const STRANGE = ['secret', 'tenant', 'board.plan', 'none'] as const;

@Crud({
  scope: { tenant: (request) => request.get('Tenant') },
  visible: () => filter`isOpen==true`,
  fields: { secret: { read: (request) => request.get('Role') === 'staff' } },
  filterAllow: ['kind', 'cost', 'secret', 'board.tenant'],
  sortAllow: { 'board.name': true, 'board.plan': true },
  aggregate: {
    group: ['kind', 'secret', 'boardId', 'board.name', 'board.plan', { due: ['day', 'month'] }],
    sum: ['cost', 'secret'],
    max: ['cost', 'secret', 'due'],
    countDistinct: ['kind', 'secret'],
    size: { default: 20 },
  },
})
@Table({ tableName: 'tickets', paranoid: true, createdAt: false, updatedAt: false })
class Ticket extends NumberedRow {
  @Column(DataType.TEXT) declare tenant: string;
  @ForeignKey(() => Board) @Column(DataType.INTEGER) declare boardId: number | null;
  @BelongsTo(() => Board) declare board: Board;
  @Column(DataType.BOOLEAN) declare isOpen: boolean;
  @Column(DataType.TEXT) declare kind: string | null;
  @Column(DataType.INTEGER) declare cost: number | null;
  @Column(DataType.INTEGER) declare secret: number;
  @Column(DataType.DATE) declare due: Date;
}

const REASON = 'it has a method list, with which no application has aggregates';
const KINDS = ['bug', 'wish', null];

except({ session: REASON, records: REASON }).describe('an aggregate of a tenant', () => {
  const paths = forSuite(() =>
    TwoPaths.start({ models: [Board, Ticket], bootstrap: { logger: new CapturedLog(), indexAdvice: false } }),
  );
  const ownRow = ({ pick, roll }: Dice) => ({
    tenant: 'a',
    boardId: pick([1, 2, 3, null]),
    isOpen: true,
    kind: pick(KINDS),
    cost: pick([null, roll(9)]),
    due: new Date(Date.UTC(2026, roll(3), 1 + roll(28), roll(24))),
  });
  /** Whatever the tenant may not see: rows of another one, rows that are closed or deleted, and a value that is masked. */
  const changeOthers = async (random: Dice) => {
    const { sequelize } = paths.site.engine;
    const [least, most] = [random.roll(1000), 1 + random.roll(1000)];
    await sequelize.query(
      `UPDATE boards SET plan = 'plan ${least}', name = CASE WHEN id = 3 THEN 'secret ${most}' ELSE name END`,
    );
    await sequelize.query(`UPDATE tickets SET secret = ${least} + id * ${most}`);
    await Ticket.destroy({
      where: { id: Array.from({ length: 99 }, (_, index) => 1000 + index) },
      force: true,
    });
    const others = Array.from({ length: random.roll(20) }, (_, index) => ({
      ...ownRow(random),
      id: 1000 + index,
      secret: random.roll(50),
      kind: random.pick([...KINDS, `other${random.roll(9)}`]),
      ...random.pick([{ tenant: 'b' }, { isOpen: false }, { deletedAt: new Date() }]),
    }));
    await Ticket.bulkCreate(others);
  };
  /** Most of them have an answer; others name masked attributes, or unknown ones. */
  const randomQuery = ({ some, pick, once, roll }: Dice): string => {
    const strange = once(3);
    const of = (known: readonly string[], least: number, most: number) =>
      some(strange ? [...known, ...STRANGE] : known, least, most);
    const group = of(['kind', 'boardId', 'board.name', 'due.day', 'due.month'], 0, 2);
    const sum = of(['cost'], 0, 1);
    const max = of(['cost', 'due'], 0, 2);
    const measured = ['count', ...sum.map((name) => `sum.${name}`), ...max.map((name) => `max.${name}`)];
    const parameters: Record<string, string> = {
      group: group.join(','),
      sum: sum.join(','),
      max: max.join(','),
      countDistinct: of(['kind'], 0, 1).join(','),
      having: pick(['count>1', 'count!=3', sum.length > 0 ? `sum.${sum[0]}>3` : '']),
      sort: `${pick(['-', ''])}${pick([...group, ...measured])}`,
      q: pick(['cost>3', 'kind==bug', strange ? 'secret>3' : 'cost<9', 'board.tenant==a', '']),
      page: once(4) ? String(1 + roll(3)) : '',
      deleted: strange && once(4) ? 'with' : '',
    };
    const given = Object.entries(parameters).filter(([, value]) => value !== '');
    return new URLSearchParams(given).toString();
  };
  before(async () => {
    await Board.bulkCreate([
      { id: 1, tenant: 'a', name: 'one' },
      { id: 2, tenant: 'a', name: 'two' },
      { id: 3, tenant: 'b', name: 'three' },
    ]);
    const random = dice(7);
    await Ticket.bulkCreate(Array.from({ length: 60 }, () => ({ ...ownRow(random), secret: 1 })));
  });

  it('says the same whatever it may not see', async () => {
    const random = dice(2026);
    const headers = { Tenant: 'a' };
    let refused = 0;
    for (let round = 0; round < wholeOr(10, 40); round += 1) {
      const base = random.pick([
        '/tickets/aggregate',
        '/boards/1/tickets/aggregate',
        '/boards/3/tickets/aggregate',
      ]);
      const requests = Array.from({ length: 4 }, () => ({ path: `${base}?${randomQuery(random)}`, headers }));
      const first = [];
      for (const request of requests) first.push(await paths.same(request));
      await changeOthers(random);
      for (const [index, request] of requests.entries())
        expect(await paths.same(request), request.path).to.deep.equal(first[index]);
      refused += first.filter(({ status }) => status === 400).length;
      for (const { status } of first)
        expect(status).to.be.oneOf(base.includes('/3/') ? [404, 400] : [200, 400]);
    }
    expect(refused).to.be.within(2, 2 * wholeOr(10, 40));
  });

  it('has no word for what is masked that it has not for what is not there', async () => {
    for (const [query, hidden, other, rest = ''] of [
      ['group=', 'secret', 'sacrat'],
      ['sum=', 'secret', 'sacrat'],
      ['having=max.', 'secret', 'sacrat', '>1'],
      ['group=', 'board.plan', 'board.plum'],
    ] as const) {
      const [masked, none] = await Promise.all(
        [hidden, other].map((name) =>
          paths.same({ path: `/tickets/aggregate?${query}${name}${rest}`, headers: { Tenant: 'a' } }),
        ),
      );
      expect(masked?.status).to.equal(400);
      expect(masked?.body.replaceAll(hidden, other), query).to.equal(none?.body);
    }
    const staff = { Tenant: 'a', Role: 'staff' };
    expect(
      (await paths.same({ path: '/tickets/aggregate?group=secret&size=1', headers: staff })).status,
    ).to.equal(200);
  });

  it('is below a record that it sees', async () => {
    const rows = await Ticket.findAll({ where: { tenant: 'a', isOpen: true } });
    const bodyOf = async (path: string) =>
      JSON.parse((await paths.same({ path, headers: { Tenant: 'a' } })).body);
    for (const boardId of [1, 2]) {
      const own = rows.filter((row) => row.boardId === boardId);
      const { items, has_next } = await bodyOf(`/boards/${boardId}/tickets/aggregate?sum=cost&group=boardId`);
      const sum = own.reduce((whole, { cost }) => whole + (cost ?? 0), 0);
      expect({ items, has_next }).to.deep.equal({
        items: [{ group: { boardId }, count: own.length, sum: { cost: String(sum) } }],
        has_next: false,
      });
    }
    expect((await bodyOf('/boards/3/tickets/aggregate')).detail).to.equal('There is no Board with this id.');
    expect((await bodyOf('/boards/x/tickets/aggregate')).errors[0].code).to.equal('id');
    const found = paths.site.crud.routes.filter(({ operation }) => operation === 'aggregate');
    expect(found.map(({ path, handler }) => `${path} ${handler}`)).to.deep.equal([
      '/boards/:id/tickets/aggregate subresources.tickets.aggregate',
      '/tickets/aggregate aggregate.groups',
    ]);
  });

  it('is by the record behind a relation, as far as that is seen', async () => {
    const rows = await Ticket.findAll({ where: { tenant: 'a', isOpen: true } });
    const numberOf = (...boards: (number | null)[]) =>
      rows.filter((row) => boards.includes(row.boardId)).length;
    const get = async (query: string, headers = {}) => {
      const { status, body } = await paths.same({
        path: `/tickets/aggregate?${query}`,
        headers: { Tenant: 'a', ...headers },
      });
      return { status, body: JSON.parse(body) };
    };
    expect((await get('group=board.name&sort=-board.name')).body.items).to.deep.equal([
      { group: { 'board.name': null }, count: numberOf(3, null) },
      { group: { 'board.name': 'two' }, count: numberOf(2) },
      { group: { 'board.name': 'one' }, count: numberOf(1) },
    ]);
    const masked = await get('group=board.plan');
    expect([masked.status, masked.body.detail]).to.deep.equal([
      400,
      "Parameter 'group' has 'board.plan'. Did you mean 'board.name'? It accepts kind, boardId, board.name, due.day, due.month.",
    ]);
    expect((await get('group=board.plan&size=1', { Role: 'staff' })).status).to.equal(200);
    const schema = paths.site.crud.openapi().components.schemas['TicketGroups'];
    expect(
      Object(schema?.properties?.['items']).items.properties.group.properties['board.name'],
    ).to.deep.equal({
      type: ['string', 'null'],
    });
  });

  it('is a method of repositories, of all attributes', async () => {
    const tickets = new Repository(Ticket);
    const own = { filter: filter`tenant==a;isOpen==true` };
    const expected = await tickets.aggregate({
      ...own,
      group: ['kind'],
      sum: ['cost'],
      having: 'count>1',
      sort: '-sum.cost',
    });
    const { body } = await paths
      .same({
        path: '/tickets/aggregate?group=kind&sum=cost&having=count%3E1&sort=-sum.cost&size=100',
        headers: { Tenant: 'a' },
      })
      .then(({ body: text }) => ({ body: JSON.parse(text) }));
    expect(expected).to.deep.equal(body);
    const all = await tickets.aggregate({ deleted: 'with' });
    expect(all).to.deep.equal({
      items: [{ group: {}, count: await Ticket.count({ paranoid: false }) }],
      has_next: false,
    });
    const inSession = await dbSession((session) => session.repository(Ticket).aggregate({ deleted: 'with' }));
    expect(inSession).to.deep.equal(all);
    expect(
      await paths.withHooks(() => tickets.aggregate({ ...own, group: ['due.month'], tz: 'Asia/Kolkata' })),
    ).to.deep.equal(await tickets.aggregate({ ...own, group: ['due.month'], tz: 'Asia/Kolkata' }));
    const wrong: readonly (readonly [object, string])[] = [
      [{ group: ['kinds'] }, "Ticket has no column of an attribute 'kinds'."],
      [{ group: ['kind.day'] }, "Ticket is grouped by 'kind.day', and kind has no such span."],
      [
        { sum: ['kind'] },
        "sum names 'kind' of Ticket, which has no sum; it is for integer, bigint, decimal, float.",
      ],
      [
        { having: 'sum.cost>1' },
        "Cannot filter by 'sum.cost'. Filterable: count. Measures have to be in the request, such as sum=price.",
      ],
      [
        { sort: 'cost' },
        "Parameter 'sort' has 'cost'. Did you mean 'count'? It accepts count, -count. Groups and measures have to be in the request, too.",
      ],
      [{ tz: '+01:00' }, 'tz of an aggregate is "+01:00"; use a name such as Europe/Berlin.'],
      [{ size: 0 }, 'size of an aggregate is 0; use an integer from 1.'],
      [
        { groups: ['kind'] },
        "An aggregate has no option 'groups'. Did you mean 'group'? The options are filter, deleted, group, sum, avg, min, max, countDistinct, having, sort, size, page, tz.",
      ],
    ];
    for (const [query, message] of wrong)
      expect(String(await caughtError(() => tickets.aggregate(query)))).to.equal(`TypeError: ${message}`);
  });
});
