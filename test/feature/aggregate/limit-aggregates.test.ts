/** Refused aggregates: wrong names, numbers, zones and conditions; queries that take too much; options that no resource can have. */
import { expect } from 'chai';
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions, crudRouter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { defineModel } from '../../support/offline-models.js';
import { serveTestApp } from '../../support/test-app.js';
import { untilLocked } from '../../support/until-locked.js';

const LETTERS = ['a', 'b', 'c', 'd'] as const;

@Crud({
  filterAllow: ['a', 'b'],
  aggregate: {
    group: [...LETTERS, { at: ['day'], clock: ['month'] }],
    sum: LETTERS,
    avg: LETTERS,
    countDistinct: LETTERS,
    size: { default: 2, max: 5 },
  },
})
@Table({ tableName: 'tiles', timestamps: false })
class Tile extends NumberedRow {
  @Column(DataType.INTEGER) declare a: number;
  @Column(DataType.INTEGER) declare b: number;
  @Column(DataType.INTEGER) declare c: number;
  @Column(DataType.INTEGER) declare d: number;
  @Column(DataType.DATE) declare at: Date;
  @Column(DataType.DATEONLY) declare clock: string;
}

@Crud({
  filterAllow: ['a', 'b'],
  aggregate: { group: ['a'], requireFilter: ['a'], maxEstimate: 500 },
})
@Table({ tableName: 'grains', timestamps: false })
class Grain extends NumberedRow {
  @Column(DataType.INTEGER) declare a: number;
  @Column(DataType.INTEGER) declare b: number;
}

@Crud({ filterAllow: { 'tile.a': true }, aggregate: { group: ['a'], requireFilter: true } })
@Table({ tableName: 'sands', timestamps: false })
class Sand extends NumberedRow {
  @Column(DataType.INTEGER) declare a: number;
  @ForeignKey(() => Tile) @Column(DataType.INTEGER) declare tileId: number | null;
  @BelongsTo(() => Tile) declare tile?: Tile;
}

@Crud({
  filterAllow: { 'details.size': 'number' },
  aggregate: { group: ['a'], requireFilter: ['details'] },
})
@Table({ tableName: 'coins', timestamps: false })
class Coin extends NumberedRow {
  @Column(DataType.INTEGER) declare a: number;
  @Column(DataType.JSONB) declare details: object;
}

const NAMED = 'Groups and measures have to be in the request, too.';
const MOST = 'at most 10 are allowed in all';

/** A query string, and the issue of its answer. */
const REFUSED: readonly (readonly [query: string, parameter: string, code: string, detail: string])[] = [
  [
    'group=a,b,c,d',
    'group',
    'aggregate.too-many',
    "Parameter 'group' names more than 3; at most 3 are allowed.",
  ],
  ['group=a,a', 'group', 'aggregate.repeated', "Parameter 'group' has 'a' twice; name it once."],
  [
    'group=',
    'group',
    'aggregate.unknown',
    "Parameter 'group' has ''. It accepts a, b, c, d, at.day, clock.month.",
  ],
  [
    'group=id',
    'group',
    'aggregate.unknown',
    "Parameter 'group' has 'id'. Did you mean 'd'? It accepts a, b, c, d, at.day, clock.month.",
  ],
  [
    'group=at',
    'group',
    'aggregate.unknown',
    "Parameter 'group' has 'at'. Did you mean 'a'? It accepts a, b, c, d, at.day, clock.month.",
  ],
  [
    'group=at.month',
    'group',
    'aggregate.unknown',
    "Parameter 'group' has 'at.month'. It accepts a, b, c, d, at.day, clock.month.",
  ],
  ['group=a&group=b', 'group', 'repeated', "Parameter 'group' may be given once."],
  [
    'min=a',
    'min',
    'unknown',
    "This route has no parameter 'min'. It accepts q, group, sum, avg, countDistinct, having, sort, size, page, tz.",
  ],
  [
    'sum=at',
    'sum',
    'aggregate.unknown',
    "Parameter 'sum' has 'at'. Did you mean 'a'? It accepts a, b, c, d.",
  ],
  [
    'sum=a,b,c,d&avg=a,b,c,d&countDistinct=a,b,c',
    'countDistinct',
    'aggregate.too-many',
    `Parameter 'countDistinct' makes more than 10 measures; ${MOST}.`,
  ],
  ['size=6', 'size', 'range', "Parameter 'size' is '6'; it accepts an integer from 1 to 5."],
  ['size=0', 'size', 'range', "Parameter 'size' is '0'; it accepts an integer from 1 to 5."],
  ['size=5&page=2001', 'page', 'range', "Parameter 'page' is '2001'; it accepts an integer from 1 to 2000."],
  ['sort=a', 'sort', 'aggregate.unknown', `Parameter 'sort' has 'a'. It accepts count, -count. ${NAMED}`],
  [
    'group=a&sort=sum.a',
    'sort',
    'aggregate.unknown',
    `Parameter 'sort' has 'sum.a'. It accepts a, -a, count, -count. ${NAMED}`,
  ],
  ['group=a&sort=a,-a', 'sort', 'aggregate.repeated', "Parameter 'sort' has 'a' twice; name it once."],
  [
    'having=sum.a>1',
    'having',
    'q.unknown-field',
    "Cannot filter by 'sum.a'. Filterable: count. Measures have to be in the request, such as sum=price.",
  ],
  ['having=count>x', 'having', 'q.type', "'x' is not an integer (field 'count')."],
  ['having=count', 'having', 'q.syntax', 'Unexpected end at position 5; expected an operator, such as ==.'],
  [
    'group=at.day&tz=%2B05:30',
    'tz',
    'aggregate.tz',
    "Parameter 'tz' is '+05:30'; it accepts the name of a time zone, such as Europe/Berlin or UTC.",
  ],
  [
    'group=at.day&tz=EST5EDT',
    'tz',
    'aggregate.tz',
    "Parameter 'tz' is 'EST5EDT'; it accepts the name of a time zone, such as Europe/Berlin or UTC.",
  ],
  [
    'group=at.day&tz=Mars/Phobos',
    'tz',
    'aggregate.tz',
    "Parameter 'tz' is 'Mars/Phobos'; it accepts the name of a time zone, such as Europe/Berlin or UTC.",
  ],
  [
    'group=at.day&tz=europe/berlin',
    'tz',
    'aggregate.tz',
    "Parameter 'tz' is 'europe/berlin'; it accepts the name of a time zone, such as Europe/Berlin or UTC.",
  ],
  [
    'group=clock.month&tz=UTC',
    'tz',
    'aggregate.tz',
    "Parameter 'tz' is for groups by spans of moments, and group names none; leave it out.",
  ],
];

const REASON = 'it has a method list, with which no application has aggregates';

except({ session: REASON, records: REASON }).describe('an aggregate', () => {
  const site = serveTestApp(() => ({
    models: [Tile, Grain, Sand, Coin],
    bootstrap: { logger: new CapturedLog() },
    engine: { dialectOptions: { statement_timeout: 1500, lock_timeout: 0 } },
    minPool: 4,
  }));
  const refusal = async (path: string) => {
    const { status, body } = await site.agent.get(path);
    return { status, errors: body.errors };
  };

  it('is refused for what it may not ask', async () => {
    const found: (typeof REFUSED)[number][] = [];
    for (const [query] of REFUSED) {
      const { status, errors } = await refusal(`/tiles/aggregate?${query}`);
      expect([status, errors.length], query).to.deep.equal([400, 1]);
      const [{ parameter, code, detail }] = errors;
      found.push([query, parameter, code, detail]);
    }
    expect(found).to.deep.equal(REFUSED);
  });

  it('is told all that is wrong at once', async () => {
    const { errors } = await refusal('/tiles/aggregate?group=x&sum=y&size=9&q=z==1&after=1');
    expect(errors.map(({ parameter }: { parameter: string }) => parameter)).to.deep.equal([
      ...['after', 'group', 'sum', 'size', 'q'],
    ]);
  });

  it('demands a filter that every record has to meet', async () => {
    const statusOf = async (path: string) => (await site.agent.get(path)).status;
    const detail = 'This route needs a condition on a in q, which every record has to meet.';
    for (const q of ['', '?q=b==1', '?q=a==1,b==1', '?q=']) {
      const refused = await refusal(`/grains/aggregate${q}`);
      expect(refused, q).to.deep.equal({
        status: 400,
        errors: [{ parameter: 'q', code: 'aggregate.filter', detail }],
      });
    }
    for (const q of ['a==1', 'a==1;b==2', 'a==1,a==2', '(b==1,b==2);a>0'])
      expect(await statusOf(`/grains/aggregate?q=${encodeURIComponent(q)}`), q).to.equal(200);
    expect((await refusal('/sands/aggregate')).errors).to.deep.equal([
      {
        parameter: 'q',
        code: 'aggregate.filter',
        detail: 'This route needs a condition in q, which every record has to meet.',
      },
    ]);
    expect(await statusOf('/sands/aggregate?q=tile.a==1')).to.equal(200);
    expect(await statusOf('/coins/aggregate?q=details.size>=4')).to.equal(200);
    expect(await statusOf('/coins/aggregate')).to.equal(400);
  });

  it('is refused where PostgreSQL expects more records than it may group', async () => {
    const { sequelize } = site.engine;
    await sequelize.query('INSERT INTO grains (a, b) SELECT n, n FROM generate_series(1, 1000) n');
    await sequelize.query('ANALYZE grains');
    const { status, errors } = await refusal('/grains/aggregate?q=a>0');
    expect({ status, ...errors[0] }).to.deep.equal({
      status: 400,
      parameter: 'q',
      code: 'aggregate.too-large',
      detail: 'This would group about 1000 records, and at most 500 are allowed; narrow it with q.',
    });
    expect((await site.agent.get('/grains/aggregate?q=a<=3&group=a&size=2')).body).to.deep.equal({
      items: [1, 2].map((a) => ({ group: { a }, count: 1 })),
      has_next: true,
    });
  });

  it('is one of two at the same time, waits for its turn, and ends with a timeout', async () => {
    const { sequelize } = site.engine;
    const lock = await sequelize.transaction();
    await sequelize.query('LOCK TABLE tiles', { transaction: lock });
    const slow = [1, 2].map((size) =>
      site.agent.get(`/tiles/aggregate?size=${size}`).then(({ status }) => status),
    );
    await untilLocked(sequelize, 2);
    const others = await Promise.all(
      Array.from({ length: 33 }, (_, n) => site.agent.get(`/grains/aggregate?q=a==${n}`)),
    );
    const refused = others.filter(({ status }) => status !== 200);
    expect(refused.map((answer) => [answer.status, answer.get('Retry-After'), answer.body])).to.deep.equal([
      [503, '1', { detail: 'Too many aggregates are under way; try again.' }],
    ]);
    // Another one that has something to do meanwhile is not concerned.
    expect((await site.agent.get('/grains?q=a==1')).status).to.equal(200);
    expect(await Promise.all(slow)).to.deep.equal([504, 504]);
    await lock.rollback();
    expect((await site.agent.get('/tiles/aggregate')).body).to.deep.equal({
      items: [{ group: {}, count: 0 }],
      has_next: false,
    });
  });
});

describe('the option aggregate', () => {
  const problems = (aggregate: unknown, others: object = {}) =>
    configProblems(() =>
      crudRouter(
        defineModel('Shelf', {
          id: { type: DataType.INTEGER, primaryKey: true },
          name: DataType.TEXT,
          code: DataType.UUID,
          data: DataType.JSONB,
          sold: DataType.BOOLEAN,
          at: DataType.DATE,
          shown: { type: DataType.TEXT, get: () => 'x' },
          seen: DataType.VIRTUAL(DataType.INTEGER),
          '-a': DataType.INTEGER,
          count: DataType.INTEGER,
        }),
        { aggregate, ...others } as CrudOptions,
      ),
    );

  it('is refused for what no column can do', async () => {
    const cases: readonly (readonly [option: unknown, ...said: readonly string[]])[] = [
      [7, "aggregate is 7; use an object such as { group: ['name'] }."],
      [
        { groups: [] },
        "aggregate has no option 'groups'. Did you mean 'group'? The options are group, sum, avg, min, max, countDistinct, size, requireFilter, maxEstimate, path.",
      ],
      [{ group: 'name' }, 'aggregate.group is "name"; use a list, such as [\'name\'].'],
      [
        { group: ['nam'] },
        "aggregate.group names 'nam', which is not an attribute. Did you mean 'name'? The attributes are id, name, code, data, sold, at, shown, seen, -a, count.",
      ],
      [
        { group: ['at.month', 'name.day', { at: [] }, { at: 'day' }] },
        "aggregate.group names 'at.month', as requests do; the option names the attribute and its spans: { at: ['month'] }.",
        "aggregate.group names 'name.day', which is not an attribute. The attributes are id, name, code, data, sold, at, shown, seen, -a, count.",
        'aggregate.group.at is []; name one of hour, day, week, month, quarter, year, or leave it out.',
        'aggregate.group.at is "day"; use a list, such as [\'day\'].',
      ],
      [{ group: ['data'] }, "aggregate.group names 'data', of type json, whose values cannot be compared."],
      [
        { group: [{ name: ['day'] }] },
        'aggregate.group.name has spans of time, and the attribute is no time; write its name alone.',
      ],
      [
        { group: [{ at: ['days'] }] },
        'aggregate.group.at has "days"; use hour, day, week, month, quarter, year. Did you mean \'day\'?',
      ],
      [
        { group: ['shown'] },
        "aggregate.group names 'shown', of which code makes what answers show; groups would show what it is made of. Remove it.",
      ],
      [{ group: ['seen'] }, "aggregate.group names 'seen', which has no column; remove it."],
      [
        { sum: ['-a'] },
        "aggregate.sum names '-a', which a list of names cannot spell; rename it, or remove it.",
      ],
      [
        { sum: ['name'] },
        "aggregate.sum names 'name', of type string, which has no sum; it is for integer, bigint, decimal, float.",
      ],
      [
        { max: ['sold', 'code'] },
        "aggregate.max names 'sold', of type boolean, which has no max; it is for integer, bigint, decimal, float, date, dateonly, time, string, enum, interval.",
        "aggregate.max names 'code', of type uuid, which has no max; it is for integer, bigint, decimal, float, date, dateonly, time, string, enum, interval.",
      ],
      [
        { group: ['count'] },
        "aggregate.group names 'count', which is the number of records in an order of groups; remove it.",
      ],
      [
        { group: ['shop.name'] },
        "aggregate.group names 'shop.name', which is no attribute, and sortAllow has no such name of a relation to one; name it there, too, or remove it.",
      ],
      [{ size: { max: 0 } }, 'aggregate.size.max is 0; use an integer from 1 to 10000.'],
      [
        { size: { default: 9, max: 5 } },
        'aggregate.size.default is 9, above aggregate.size.max 5; raise it: { default: 9, max: 9 }.',
      ],
      [{ maxEstimate: '1e6' }, 'aggregate.maxEstimate is "1e6"; use a number of records, such as 1_000_000.'],
      [
        { path: 'All cities' },
        "aggregate.path is \"All cities\"; use one word of small letters, digits and '-', such as 'summary'.",
      ],
      [
        { requireFilter: ['name'] },
        "aggregate.requireFilter names 'name', which q cannot be about; name it in filterAllow, too.",
      ],
      [
        { requireFilter: true },
        'aggregate.requireFilter demands a q, and filterAllow names nothing that it could be about; name an attribute there.',
      ],
    ];
    for (const [option, ...said] of cases)
      expect(await problems(option), JSON.stringify(option)).to.deep.equal(
        said.map((each) => `Shelf: ${each}`),
      );
    const hooked = defineModel('Shelf', { name: DataType.TEXT }, { hooks: { beforeFind: () => {} } });
    const [choice] = await configProblems(() => crudRouter(hooked, { aggregate: { group: ['name'] } }));
    expect(choice).to.match(
      /: aggregate cannot be, because hooks, a finder of its own or joins of a default scope choose the rows of Shelf/,
    );
  });
});
