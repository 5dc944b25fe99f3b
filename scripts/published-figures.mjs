/** Where figures of `bench/results` are published. `{}` in a text is a figure, in the order of `values`; it may be a date, a command, or a whole table. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { LEANEST, LIMIT, OURS } from './result-file.mjs';
import { StepFailed } from './step.mjs';

/** Pages whose figures are compared. */
export function pagesOf(folder) {
  const guide = readdirSync(path.join(folder, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', ...guide.map((name) => `docs/${name}`), 'bench/README.md'];
}

/** Figures of examples, which no file of results has. */
export const BY_HAND = [['docs/sizing.md', 'Checking a token takes 300 µs']];

const [READ, LIST, CREATE, UPDATE] = ['Read by id', 'List 20', 'Create', 'Update'];
const FILTERED = 'List 20 of a category';
const DEEP = 'List 20 at depth 990,000';
/** Heads of columns on a page, and in the files. */
const LISTS = { 'list 20': LIST, 'list 100': 'List 100', '20 at depth 990,000': DEEP };
const WRITES = { create: CREATE, update: UPDATE };
const WORKLOADS = { 'read by id': READ, ...LISTS, ...WRITES };
const EXTENDED = { 'read by id': READ, 'list 20': LIST, ...WRITES };
const RATES = { 'read by id': READ, ...LISTS, '20 of a category': FILTERED, ...WRITES };
const TO_BARE = 'requests per second, to bare `node:http` + `pg`';

/** Headings of the files. */
const RATIO = 'Requests per second, as a ratio to node:http + pg';
const FASTER = 'How many times as fast crud-controllers is';
const NODE = 'Processor time of Node, in microseconds';
const POSTGRES = 'Processor time of PostgreSQL, in microseconds';
const SPENT_RATIO = 'Processor time of PostgreSQL, as a ratio to node:http + pg';
const EXTENSION_COSTS = 'Processor time of Node: the ratio';
const DEPTH = 'What the deep page costs';
const PER_SECOND = 'Requests per second\n';

const GROUPED = `${OURS}, group commit`;
const TRACED = `${OURS}, OpenTelemetry's instrumentation of pg`;
const UNPREPARED = `${OURS}, no prepared statements`;
const OVERRIDE = `${OURS}, override`;
const UNIT = `${OURS}, unit of work`;
const EXPRESS = 'Express 4 + pg';
/** Loads of the file about memory. */
const [AT_REST, PLAIN, HUNDREDS, LARGE] = [
  'at rest after the start',
  'reads and pages of 20',
  'pages of 100',
  'pages of 1,000',
];
const CROWD = 'reads of 1,000 clients';
const FLAGS = '--max-semi-space-size=32 --semi-space-growth-factor=4';
const YOUNG = `${CROWD} with ${FLAGS}`;
const PLAIN_YOUNG = `${PLAIN} with ${FLAGS}`;
/** Requests of the file about servers. */
const OF_SERVERS = [
  'one tenant: one server',
  ...['2', '3'].map((count) => `a tenant of the first server: ${count} servers`),
  ...['2', '3'].map((count) => `one tenant: ${count} servers`),
];
const OF_PARTITIONS = ['one partition', '16 partitions'].map((step) => `read of one tenant: ${step}`);
const NEST = 'NestJS + @dataui/crud + TypeORM';
const FEATHERS = 'Feathers + Sequelize';

const BARE = ['bare `node:http` + `pg`, named statements', LIMIT];
const LEAN = ['the leanest by hand: pipelined, texts copied into JSON', LEANEST];
const BESIDE = [
  ['Fastify 5 + `pg` + fast-json-stringify', 'Fastify 5 + pg'],
  ['Express 4 + `pg`', EXPRESS],
  ['Express 5 + `pg`', 'Express 5 + pg'],
  ['Express 4 + Sequelize', 'Express 4 + Sequelize'],
  ['routing-controllers + Sequelize', 'routing-controllers + Sequelize'],
  ['Feathers (Koa) + Knex', 'Feathers + Knex'],
  ['Feathers (Koa) + Sequelize', FEATHERS],
  ['NestJS + @dataui/crud + TypeORM', NEST],
  ['finale-rest', 'finale-rest'],
];

const SETTINGS = [
  ['**crud-controllers**', OURS],
  ['with `groupCommit: true`', GROUPED],
  ['with a hook of the pool, so that no read shares a connection', `${OURS}, hook of the pool`],
  ['with `preparedStatements: false`, for a pooler', UNPREPARED],
  ["with OpenTelemetry's instrumentation of `pg`", TRACED],
  ['the leanest by hand', LEANEST],
];
const EXTENSIONS = [
  ['a read schema of plain properties', `${OURS}, read schema`],
  ['an interceptor that passes values on', `${OURS}, interceptor`],
  ['an override that calls `super`', OVERRIDE],
  ['a getter on an attribute', `${OURS}, getter`],
  ['a unit of work', UNIT],
];

/** Each place: its page, its text, and the values of its blanks, which are found when they are needed. */
export function published(results) {
  return [readme, performance, sizing, others].flatMap((placesOf) => placesOf(results));
}

function readme(results) {
  const page = 'README.md';
  const latest = () => results('latest');
  const servers = [EXPRESS, NEST, FEATHERS];
  const byHand = (column) => (1 / latest().number(FASTER, LEANEST, column)).toFixed(1);
  return [
    place(
      page,
      '| processor time of PostgreSQL for a read by id, where bare `node:http` with `pg` takes 1 | {} | {} | {} | {} |',
      () => [...servers, OURS].map((row) => latest().ratio(SPENT_RATIO, row, READ)),
    ),
    place(
      page,
      '| reads by id a second, where bare `node:http` with `pg` has 1 | {} | {} | {} | {}, with `serve` |',
      () => [...servers, OURS].map((row) => latest().ratio(RATIO, row, READ)),
    ),
    place(
      page,
      '| creates a second, on the same scale | {} | {} | {} | {}; {} with `groupCommit` of the engine |',
      () => [...servers, OURS, GROUPED].map((row) => latest().ratio(RATIO, row, CREATE)),
    ),
    place(
      page,
      'by hand reads {} times as many records by id as this library, and answers {} times as many filtered lists.',
      () => [READ, FILTERED].map(byHand),
    ),
    place(
      page,
      '| the page behind 990,000 records | yours | reads all before it | reads all before it | {} times the time of the first page, with cursors |',
      () => [deepToFirst(latest())],
    ),
    spentByPostgres(page, latest),
    place(
      page,
      'A figure of {} is the median of {} rounds, which differ by up to {} times for ours and by up to {} times for others.',
      () => [
        latest().said('Date'),
        roundsOf(latest()),
        largest(
          latest().spread(RATIO, [OURS], [READ, FILTERED, CREATE]),
          latest().spread(RATIO, [GROUPED], [CREATE]),
          latest().spread(SPENT_RATIO, [OURS], [READ, LIST]),
          latest().spread(DEPTH, [OURS], ['ratio']),
        ),
        largest(
          latest().spread(RATIO, [...servers, LEANEST], [READ, FILTERED, CREATE]),
          latest().spread(SPENT_RATIO, servers, [READ]),
          latest().spread(FASTER, [LEANEST], [READ, FILTERED]),
        ),
      ],
    ),
  ];
}

function performance(results) {
  const page = 'docs/performance.md';
  const latest = () => results('latest');
  const again = (name, ...figures) =>
    place(
      page,
      `\`bench/results/${name}.md\` is of {}: {} rounds, whose ratios differ by up to {} times. To measure it again:\n\`\`\`sh\n{}\n\`\`\``,
      () => {
        const file = results(name);
        return [file.said('Date'), roundsOf(file), file.spread(...figures).toFixed(1), file.said('Command')];
      },
    );
  const ours = [OURS, GROUPED];
  const peers = BESIDE.slice(0, -1);
  const titled = (all) => all.map(([, row]) => row);
  const timesAs = (row) => latest().number(FASTER, row, READ).toFixed(1);
  return [
    spentByPostgres(page, latest),
    table(page, 'of what PostgreSQL spends', 'microseconds of PostgreSQL for a request', RATES, (column) => [
      ['**crud-controllers**', latest().whole(POSTGRES, OURS, column)],
      ['**the same, where bare `node:http` + `pg` takes 1**', latest().ratio(SPENT_RATIO, OURS, column)],
      ['crud-controllers, `groupCommit: true`', latest().whole(POSTGRES, GROUPED, column)],
      ...rows([BARE, LEAN, ...peers], latest(), POSTGRES, column),
    ]),
    place(
      page,
      'Rounds of a figure differ by up to {} times for ours, and by up to {} times for others.\nThis is from the run of the next table:',
      () => [
        largest(
          latest().spread(POSTGRES, ours, Object.values(RATES)),
          latest().spread(SPENT_RATIO, [OURS], Object.values(RATES)),
        ),
        largest(latest().spread(POSTGRES, titled([BARE, LEAN, ...peers]), Object.values(RATES))),
      ],
    ),
    table(page, 'beside others', TO_BARE, RATES, (column) =>
      rows(
        [
          ['**crud-controllers**', OURS],
          ['crud-controllers, `groupCommit: true`', GROUPED],
          ['crud-controllers, `app.listen` instead of `serve`', `${OURS}, app.listen`],
          ['crud-controllers, `fastPath: false`', `${OURS}, general path`],
          LEAN,
          BARE,
          ...BESIDE,
        ],
        latest(),
        RATIO,
        column,
      ),
    ),
    place(page, 'in turn, in {} rounds, on {}.', () => [roundsOf(latest()), latest().said('Date')]),
    place(page, '64 connections, Node {} and', () => [latest().said('Node')]),
    place(
      page,
      'The rounds of a ratio differ by up to {} times for ours, and by up to {} times for others.',
      () => [
        largest(
          latest().spread(
            RATIO,
            [...ours, `${OURS}, app.listen`, `${OURS}, general path`],
            Object.values(RATES),
          ),
        ),
        largest(
          latest().spread(RATIO, titled([LEAN, ...BESIDE]), Object.values(RATES)),
          latest().spread(FASTER, titled(peers), [READ]),
        ),
      ],
    ),
    place(
      page,
      'It answers {} times as many reads by id as Fastify with `pg`, and {} times as many as Feathers with Knex.',
      () => ['Fastify 5 + pg', 'Feathers + Knex'].map(timesAs),
    ),
    place(
      page,
      'It answers {} times as many as routing-controllers with Sequelize, and {} times as many as NestJS',
      () => ['routing-controllers + Sequelize', NEST].map(timesAs),
    ),
    table(page, 'of settings', TO_BARE, WORKLOADS, (column) =>
      rows(SETTINGS, results('neighbours'), RATIO, column),
    ),
    again('neighbours', RATIO, titled(SETTINGS), Object.values(WORKLOADS)),
    table(page, 'of extensions', 'processor time without it, to that with it', EXTENDED, (column) =>
      rows(EXTENSIONS, results('extensions'), EXTENSION_COSTS, column),
    ),
    again('extensions', EXTENSION_COSTS, titled(EXTENSIONS), Object.values(EXTENDED)),
    place(
      page,
      'Four hundred models are bootstrapped in {} ms, the median of starts that differ by up to {} times. `bench/results/scaling.md` of {} shows',
      () => [
        results('scaling').whole('Models', '400', '`bootstrap`, ms'),
        results('scaling').spread('Models', ['400'], ['`bootstrap`, ms']).toFixed(1),
        results('scaling').said('Date'),
      ],
    ),
  ];
}

function sizing(results) {
  const page = 'docs/sizing.md';
  const extensions = () => results('extensions');
  /** The mean of some columns, rounded to 5 µs. */
  const spent = (row, columns, section) => {
    const sum = columns.reduce((all, column) => all + extensions().number(section, row, column), 0);
    return Math.round(sum / columns.length / 5) * 5;
  };
  const both = (row, columns) => [NODE, POSTGRES].map((section) => spent(row, columns, section));
  const costs = (title, row, columns) =>
    place(page, `| ${title} | {} µs | {} µs |`, () => both(row, columns));
  const perModel = () => {
    const [one, all] = ['1', '400'].map((row) =>
      results('scaling').number('Models', row, 'heap of it all, MB'),
    );
    return (all - one) / 399;
  };
  const megabytes = (row) => results('memory').number('Memory\n', row, 'at most, MB');
  const quotient = (row, to, column) => {
    const [one, other] = [row, to].map((each) => results('memory').number('Memory\n', each, column));
    return (one / other).toFixed(1);
  };
  const base = () => Math.ceil(megabytes(PLAIN) / 10) * 10;
  /** Of 64 pages at once, each 0.315 MB. */
  const perPage = () => Math.round((megabytes(LARGE) - megabytes(PLAIN)) / 64 / 0.315);
  const pages = (records, column) => results('scaling').number('Page size', `${OURS}: ${records}`, column);
  /** Of the example: 70 % records, 20 % pages, 10 % writes. */
  const mixed = (section) =>
    [[READ], [LIST], [CREATE, UPDATE]].map((columns) => spent(OURS, columns, section));
  const sumOf = ([read, list, write]) => 0.7 * read + 0.2 * list + 0.1 * write;
  const nodeTime = () => Math.round(sumOf(mixed(NODE)) + 300);
  /** The example goes on with the number of processes. */
  const processors = () => {
    const needed = nodeTime() * 0.004;
    if (Math.ceil(needed / 0.6) !== 3)
      throw new StepFailed('The example needs another number of processes now.');
    return needed;
  };
  const ofTenant = (kind) =>
    OF_SERVERS.map((title) => results('servers').whole('Servers\n', `${kind} of ${title}`, 'busiest µs'));
  return [
    place(
      page,
      'a read of one tenant takes {} µs of PostgreSQL with one partition, and {} µs with 16 |',
      () =>
        OF_PARTITIONS.map((row) => results('servers').whole('Partitions of one server', row, 'busiest µs')),
    ),
    place(
      page,
      'with one, two and three servers a read of a tenant of the first one takes {}, {} and {} µs, and of a tenant of the last one {} and {} µs; a list {}, {} and {}, and {} and {} µs |',
      () => [...ofTenant('read'), ...ofTenant('list20')],
    ),
    costs('a record by its id', OURS, [READ]),
    costs('a page of 20', OURS, [LIST]),
    costs('create or update of one record', OURS, [CREATE, UPDATE]),
    costs('the same with an override', OVERRIDE, [CREATE, UPDATE]),
    costs('create or update in a unit of work', UNIT, [CREATE, UPDATE]),
    place(
      page,
      'extensions.md` of the repository, measured on {} in {} rounds, which differ by up to {} times.',
      () => [
        extensions().said('Date'),
        roundsOf(extensions()),
        largest(
          ...[NODE, POSTGRES].map((section) =>
            extensions().spread(section, [OURS, OVERRIDE, UNIT], Object.values(EXTENDED)),
          ),
        ),
      ],
    ),
    place(
      page,
      'A read by key then takes about {} times the processor time of Node and about {} times that of PostgreSQL,',
      () =>
        [NODE, POSTGRES].map((section) => {
          const [without, plain] = [UNPREPARED, OURS].map((row) =>
            results('neighbours').number(section, row, READ),
          );
          return (without / plain).toFixed(0);
        }),
    ),
    place(page, 'A model adds {} MB, by `bench/results/scaling.md` of {}.', () => [
      perModel().toFixed(2),
      results('scaling').said('Date'),
    ]),
    place(
      page,
      'memory.md` of the repository, measured on {} in {} rounds, which differ by up to {} times.',
      () => [
        results('memory').said('Date'),
        results('memory').matched(/Rounds: (\d+)/),
        results('memory')
          .spread(
            'Memory\n',
            [AT_REST, PLAIN, PLAIN_YOUNG, HUNDREDS, LARGE, CROWD, YOUNG],
            ['at most, MB', 'requests/s', 'Node µs'],
          )
          .toFixed(1),
      ],
    ),
    ...Object.entries({ [AT_REST]: '', [PLAIN]: '', [HUNDREDS]: '', [LARGE]: ', each 315 kB' }).map(
      ([title, more]) => place(page, `| ${title}${more} | {} MB |`, () => [megabytes(title)]),
    ),
    place(page, 'a page needs about {} times the bytes of its answer', () => [perPage()]),
    place(page, 'memory = {} + {} × models + {} × pages at once', () => [
      base(),
      perModel().toFixed(2),
      perPage(),
    ]),
    place(page, '| memory of a process | {} + {} × 30 models + {} × 20 pages × 0.006 MB = {} MB', () => [
      base(),
      perModel().toFixed(2),
      perPage(),
      Math.round(base() + 30 * perModel() + perPage() * 20 * 0.006),
    ]),
    place(
      page,
      'gave 1,000 clients {} times as many reads for {} of the processor time, and the process took {} MB and not {},',
      () => {
        const [more, less] = ['requests/s', 'Node µs'].map((column) => quotient(YOUNG, CROWD, column));
        return [more, less, megabytes(YOUNG), megabytes(CROWD)];
      },
    ),
    place(
      page,
      'With 64 clients they gave {} times as many answers, and the process took {} MB and not {}.',
      () => [quotient(PLAIN_YOUNG, PLAIN, 'requests/s'), megabytes(PLAIN_YOUNG), megabytes(PLAIN)],
    ),
    place(page, '0.7 × {} + 0.2 × {} + 0.1 × {} + 300 = {} µs', () => [...mixed(NODE), nodeTime()]),
    place(page, '4,000 × {} µs = {} |', () => [nodeTime(), processors().toFixed(2)]),
    place(page, '| {} ÷ 0.6 = {}, so 3, and 1 more: **4** |', () => [
      processors().toFixed(2),
      (processors() / 0.6).toFixed(1),
    ]),
    place(page, '0.7 × {} + 0.2 × {} + 0.1 × {} = {} µs, in all {} processors, without the disk', () => [
      ...mixed(POSTGRES),
      Math.round(sumOf(mixed(POSTGRES))),
      (Math.round(sumOf(mixed(POSTGRES))) * 0.004).toFixed(2),
    ]),
    place(
      page,
      'Figures are of `bench/results/scaling.md` of {}, or of the test that is named. Rounds of these figures differ by up to {} times.',
      () => [
        results('scaling').said('Date'),
        largest(
          results('scaling').spread('Page size', [`${OURS}: 1`], ['requests/s', 'Node µs', 'PostgreSQL µs']),
          results('scaling').spread('Page size', [`${OURS}: 20`], ['PostgreSQL µs']),
        ),
      ],
    ),
    place(
      page,
      'The last two rows are of `bench/results/servers.md` of {}, whose rounds differ by up to {} times: `npm run bench -- --servers`.',
      () => [
        results('servers').said('Date'),
        largest(
          results('servers').spread(
            'Servers\n',
            ['read', 'list20'].flatMap((kind) => OF_SERVERS.map((title) => `${kind} of ${title}`)),
            ['busiest µs'],
          ),
          results('servers').spread('Partitions of one server', OF_PARTITIONS, ['busiest µs']),
        ),
      ],
    ),
    place(page, '| {} pages of one record a second,', () => [pages(1, 'requests/s').toLocaleString('en')]),
    place(
      page,
      'busy for more than 70 % | {} µs of Node for such a page, and {} µs of PostgreSQL: {} processors of Node keep one of',
      () => {
        const [node, postgres] = [pages(1, 'Node µs'), pages(1, 'PostgreSQL µs')];
        return [node.toFixed(0), postgres.toFixed(0), (node / postgres).toFixed(1)];
      },
    ),
    place(page, '| a page of 20 takes {} µs of PostgreSQL,', () => [pages(20, 'PostgreSQL µs').toFixed(0)]),
  ];
}

function others(results) {
  const transfers = {
    'a million articles as CSV | `COPY (SELECT …) TO STDOUT` of the same rows, read by pg | 0.5':
      'export as CSV',
    'the same as NDJSON | likewise | 0.5': 'export as NDJSON',
    'the same as CSV, where a getter makes a record of each row | likewise | 0.3':
      'export as CSV, with records',
    '100,000 prices from CSV, in one transaction | `unnest` by hand in chunks of 1,000, from the same CSV | 0.5':
      'import of CSV',
    'the same from NDJSON | likewise | 0.5': 'import of NDJSON',
    'the same as an upsert of rows that are all there | the same with `ON CONFLICT DO UPDATE` | 0.5':
      'import of CSV, upsert',
  };
  const RECORDS = 'Records per second, as a ratio to another workload';
  const writes = [
    ['records a second of `create100`, beside `create` | 10', RECORDS, OURS, 'Create 100 : Create'],
    ['`create100`, beside `INSERT … unnest` by hand | 0.8', RATIO, OURS, 'Create 100'],
    ['`updateIfMatch`, beside `update` | 0.9', RECORDS, OURS, 'Update if it matches : Update'],
    ['`createWithKey`, beside `create` | 0.6', RECORDS, OURS, 'Create with a key : Create'],
    ['`createOrder`, beside the same by hand | 0.8', RATIO, OURS, 'Create an order with 100 lines'],
    [
      '`createOrder`, beside Express and Sequelize | 8',
      FASTER,
      'Express 4 + Sequelize',
      'Create an order with 100 lines',
    ],
  ];
  return [
    ...Object.entries(transfers).map(([title, row]) =>
      place('bench/README.md', `| ${title} | {} |`, () => [
        results('transfer').ratio('Whole exports', row, 'to the limit'),
      ]),
    ),
    place(
      'bench/README.md',
      'This is of {}. Rounds of a ratio differ by up to {} times. `COPY` gains',
      () => [
        results('transfer').said('Date'),
        results('transfer').spread('Whole exports', Object.values(transfers), ['to the limit']).toFixed(1),
      ],
    ),
    ...writes.map(([title, ...cell]) =>
      place('bench/README.md', `| ${title} | {} |`, () => [results('writes').ratio(...cell)]),
    ),
    place(
      'bench/README.md',
      'These are of {}. Rounds of the rates behind them differ by up to {} times.',
      () => [
        results('writes').said('Date'),
        results('writes')
          .spread(
            PER_SECOND,
            [OURS, LIMIT],
            [
              'Create',
              'Create 100',
              'Update',
              'Update if it matches',
              'Create with a key',
              'Create an order with 100 lines',
            ],
          )
          .toFixed(1),
      ],
    ),
    place(
      'docs/lists.md',
      'a page behind 990,000 records takes {} times the time of the first one (`npm run bench`, {}).',
      () => [deepToFirst(results('latest')), results('latest').said('Date')],
    ),
  ];
}

function place(page, text, values) {
  return { page, text, values: () => values().map(String) };
}

/** @param linesOf returns the titles of all rows, each with its value in a column of the file */
function table(page, name, corner, columns, linesOf) {
  const text = `<!-- npm run figures writes the table ${name} -->\n{}\n<!-- end of the table -->`;
  const cells = () => {
    const byColumn = Object.values(columns).map(linesOf);
    const lines = byColumn[0].map(([title], at) => [title, ...byColumn.map((lines) => lines[at][1])]);
    const rule = ['---', ...byColumn.map(() => '---:')];
    return [[corner, ...Object.keys(columns)], rule, ...lines];
  };
  return place(page, text, () => [
    cells()
      .map((line) => `| ${line.join(' | ')} |`)
      .join('\n'),
  ]);
}

/** Rows with the figures of a file: of each its title on the page and there. */
function rows(titles, file, section, column) {
  return titles.map(([title, row]) => [
    title,
    section === POSTGRES ? file.whole(section, row, column) : file.ratio(section, row, column),
  ]);
}

/** The largest of some spreads. */
function largest(...spreads) {
  return Math.max(...spreads).toFixed(1);
}

function roundsOf(file) {
  return file.matched(/(\d+) rounds of/);
}

/** The time of the deep page, to that of the first one. */
function deepToFirst(file) {
  return file.number(DEPTH, OURS, 'ratio').toFixed(1);
}

/** PostgreSQL's processor time for reads and pages, to that of the limit. */
function spentByPostgres(page, latest) {
  return place(
    page,
    'For a read by id PostgreSQL needs {} of the processor time that it needs for bare `node:http` with `pg`, and for a page of 20 it needs {} of it.',
    () => [READ, LIST].map((column) => latest().ratio(SPENT_RATIO, OURS, column)),
  );
}
