/** A mistake has one answer, on generated routes, on routes added to a resource, and in hand-written controllers. */
import { expect } from 'chai';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Length, Max, ValidateNested } from 'class-validator';
import express from 'express';
import {
  Body,
  BodyParam,
  CookieParam,
  Get,
  HeaderParam,
  JsonController,
  Param,
  Post,
  QueryParam,
  QueryParams,
} from 'routing-controllers';
import type { CreationAttributes } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import type { Response, Test } from 'supertest';
import {
  Crud,
  type CrudContext,
  createSchema,
  crudController,
  InjectRepository,
  InjectUnitOfWork,
  Repository,
  type UnitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

class Author {
  @IsString() declare name: string;
}

class Tag {
  @Length(1, 3) declare name: string;
  @IsOptional() @IsInt() @Max(5) declare weight?: number;
}

class Draft {
  @IsString() declare title: string;
  @IsOptional() @ValidateNested() @Type(() => Author) declare author?: Author;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Tag) declare tags?: Tag[];
}

/** A body of the user's class. */
@Crud({ endpoints: ['create'], createSchema: Draft })
@Table({ tableName: 'drafts', timestamps: false })
class DraftRow extends NumberedRow {
  @Column(DataType.TEXT) declare title: string;
  @Column(DataType.JSONB) declare author: unknown;
  @Column(DataType.JSONB) declare tags: unknown;
}

/** A body that is derived. */
@Crud({ endpoints: ['create', 'createMany'] })
@Table({ tableName: 'books', timestamps: false })
class Book extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false, unique: true }) declare title: string;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare pages: number;
  @Column(DataType.DATEONLY) declare printed: string | null;
}

/** One that has no routes. */
@Table({ tableName: 'readers', timestamps: false })
class Reader extends NumberedRow {
  @Column({ type: DataType.STRING(20), unique: true }) declare email: string;
}

const BookCreate = createSchema(Book);
const reached: unknown[] = [];

class DraftController extends crudController(DraftRow) {
  @Post('/added')
  added(@Body() draft: Draft) {
    return reached.push(draft);
  }
}

class BookController extends crudController(Book) {
  override create(values: CreationAttributes<Book>, { repository }: CrudContext<Book>) {
    return repository.create(values);
  }

  @Post('/added')
  added(@Body({ type: BookCreate }) book: object, @InjectRepository(Book) books: Repository<Book>) {
    reached.push(book);
    return books.create(book as CreationAttributes<Book>);
  }

  @Get('/added/:count')
  search(
    @Param('count') count: number,
    @QueryParam('least', { required: true }) least: number,
    @QueryParam('isNew') isNew: boolean,
    @QueryParam('since') since: Date,
    @QueryParam('word') word: string,
    @QueryParam('ids', { type: Number }) ids: number[],
    @HeaderParam('x-depth') depth: number,
    @CookieParam('size', { required: true }) size: number,
  ) {
    return { count, least, isNew, since, word, ids, depth, size };
  }

  @Get('/plain')
  plain() {
    return {};
  }
}

class Search {
  @IsOptional() @IsInt() @Max(9) declare least?: number;
  @IsOptional() @IsString() declare word?: string;
}

class Names {
  @IsString({ each: true }) declare names: string[];
}

@JsonController('/hand')
class HandController {
  @Post('/drafts')
  draft(@Body() draft: Draft) {
    return reached.push(draft);
  }

  @Post('/books')
  async book(@Body({ type: BookCreate }) book: object) {
    reached.push(book);
    return new Repository(Book).create(book as CreationAttributes<Book>);
  }

  @Post('/raw')
  raw(@Body({ type: BookCreate }) book: object) {
    return Book.create(book as CreationAttributes<Book>);
  }

  @Post('/unit')
  unit(@Body({ type: BookCreate }) book: object, @InjectUnitOfWork() unit: UnitOfWork) {
    return unit.repository(Book).create(book as CreationAttributes<Book>);
  }

  @Post('/long')
  long(@Body({ options: { limit: '200kb' } }) draft: Draft) {
    return { length: draft.title.length };
  }

  @Post('/text')
  text(@Body() text: string) {
    return { text };
  }

  @Post('/lists')
  list(@Body({ type: BookCreate }) books: object[]) {
    return { reached: reached.push(books) };
  }

  @Post('/readers')
  reader(@BodyParam('email', { required: true }) email: string) {
    return new Repository(Reader).create({ email });
  }

  @Post('/members')
  members(
    @BodyParam('name', { required: true }) name: string,
    @BodyParam('age') age: number,
    @BodyParam('days', { type: Number }) days: number[],
    @BodyParam('draft') draft: Draft,
    @BodyParam('born') born: Date,
  ) {
    return { name, age, days, draft, born };
  }

  @Get('/search')
  search(@QueryParams() search: Search) {
    return search;
  }

  @Get('/lists')
  queryLists(
    @QueryParam('id', { isArray: true, type: Number }) id: number[],
    @QueryParam('text', { isArray: true }) text: string[],
  ) {
    return { id, text };
  }

  @Get('/names')
  names(@QueryParams() names: Names) {
    return names;
  }

  @Get('/:count')
  count(
    @Param('count') count: number,
    @QueryParam('least', { required: true }) least: number,
    @QueryParam('isNew') isNew: boolean,
    @QueryParam('since') since: Date,
    @QueryParam('word') word: string,
    @QueryParam('ids', { type: Number }) ids: number[],
    @HeaderParam('x-depth') depth: number,
    @CookieParam('size', { required: true }) size: number,
  ) {
    return { count, least, isNew, since, word, ids, depth, size };
  }
}

/** The routes that a body is sent to. The first one is generated. */
const DRAFTS = ['/draft-rows', '/draft-rows/added', '/hand/drafts'];
const BOOKS = ['/books', '/books/added', '/hand/books'];

type Place = readonly [place: string, code: string];

/** Bodies, and the answer of each route: a status, and the places and codes of all mistakes. */
const BODIES: readonly (readonly [routes: readonly string[], body: string, status: number, ...Place[]])[] = [
  [DRAFTS, '{', 400, ['', 'malformed']],
  [DRAFTS, '', 400, ['', 'missing']],
  [DRAFTS, '[]', 422, ['', 'isObject']],
  [DRAFTS, '[{"title":"a"}]', 422, ['', 'isObject']],
  [DRAFTS, 'null', 422, ['', 'isObject']],
  [DRAFTS, '7', 422, ['', 'isObject']],
  [DRAFTS, '"text"', 422, ['', 'isObject']],
  [DRAFTS, '{}', 422, ['/title', 'isString']],
  [DRAFTS, '{"titel":"a"}', 422, ['/titel', 'unknownProperty'], ['/title', 'isString']],
  [DRAFTS, '{"title":7}', 422, ['/title', 'isString']],
  [DRAFTS, '{"title":"\\u0000"}', 422, ['/title', 'isStorableText']],
  [DRAFTS, '{"title":"a","__proto__":{}}', 422, ['/__proto__', 'unknownProperty']],
  [DRAFTS, '{"title":"a","author":{"constructor":1}}', 422, ['/author', 'isStorableJson']],
  [DRAFTS, '{"title":"a","author":{}}', 422, ['/author/name', 'isString']],
  [DRAFTS, '{"title":"a","author":[]}', 422, ['/author', 'isObject']],
  [DRAFTS, '{"title":"a","author":{"name":"b","nam":1}}', 422, ['/author/nam', 'unknownProperty']],
  [DRAFTS, '{"title":"a","tags":{}}', 422, ['/tags', 'isArray']],
  [
    DRAFTS,
    '{"title":"a","tags":[{"name":"b"},[],{"name":""}]}',
    422,
    ['/tags/1', 'isObject'],
    ['/tags/2/name', 'isLength'],
  ],
  [DRAFTS, '{"title":"a","tags":[{"name":"b","weight":9}]}', 422, ['/tags/0/weight', 'max']],
  [DRAFTS, `{"title":"a","author":${'['.repeat(40)}${']'.repeat(40)}}`, 400, ['', 'tooDeep']],
  [DRAFTS, `{"title":"${'x'.repeat(110_000)}"}`, 413, ['', 'tooLarge']],
  [BOOKS, '{}', 422, ['/title', 'isDefined']],
  [BOOKS, '{"title":null}', 422, ['/title', 'isDefined']],
  [BOOKS, '{"title":"a","pages":"many"}', 422, ['/pages', 'isInt']],
  [BOOKS, '{"title":"a","pages":3000000000}', 422, ['/pages', 'max']],
  [BOOKS, `{"title":"${'x'.repeat(21)}"}`, 422, ['/title', 'maxLength']],
  [BOOKS, '{"title":"a","printed":"2026-02-30"}', 422, ['/printed', 'isDate']],
  [BOOKS, '{"title":"a","id":7}', 422, ['/id', 'readOnly']],
  [BOOKS, '{"title":"a","pags":7}', 422, ['/pags', 'unknownProperty']],
  [BOOKS, '{"title":"taken"}', 409, ['/title', 'unique']],
  [
    ['/books', '/hand/lists'],
    '[{"titel":"a"},7]',
    422,
    ['/0/titel', 'unknownProperty'],
    ['/0/title', 'isDefined'],
    ['/1', 'isObject'],
  ],
  [['/books', '/hand/raw', '/hand/unit'], '{"title":"taken"}', 409, ['/title', 'unique']],
];

const COOKIE = { Cookie: 'size=3' };

const wrong = (parameter: string, code: string, detail: string) => ({ parameter, code, detail });
const none = (name: string) => wrong(name, 'required', `Parameter '${name}' is required.`);
const twice = (name: string) => wrong(name, 'repeated', `Parameter '${name}' may be given once.`);
const other = (name: string, code: string, sent: string, accepted: string) =>
  wrong(name, code, `Parameter '${name}' is '${sent}'; it accepts ${accepted}.`);
const NO_SIZE = wrong('size', 'required', "Cookie 'size' is required.");
const FLAG = 'true and false';
const EXACT = 'an integer from -9007199254740991 to 9007199254740991';
const LEST =
  "This route has no parameter 'lest'. Did you mean 'least'? It accepts least, isNew, since, word, ids.";

/** Requests for values by their names, below each route that reads them, and the answer. */
const PARAMETERS: readonly (readonly [path: string, headers: object, ...errors: object[]])[] = [
  ['/x?least=1', COOKIE, wrong('count', 'id', "'x' is not a valid count; it must be a number.")],
  ['/1', COOKIE, none('least')],
  ['/1?least=', COOKIE, none('least')],
  ['/1?least=Infinity', COOKIE, other('least', 'range', 'Infinity', 'a number')],
  ['/1?least=1&least=2', COOKIE, twice('least')],
  ['/1?least=1&word=a&word=b', COOKIE, twice('word')],
  ['/1?least=1&isNew=yes', COOKIE, other('isNew', 'boolean', 'yes', FLAG)],
  ...['constructor', 'toString', '__proto__'].map(
    (name) => [`/1?least=1&isNew=${name}`, COOKIE, other('isNew', 'boolean', name, FLAG)] as const,
  ),
  [
    '/9007199254740993?least=1',
    COOKIE,
    wrong('count', 'id', `'9007199254740993' is not a valid count; it must be ${EXACT}.`),
  ],
  ['/1?least=-9007199254740992', COOKIE, other('least', 'range', '-9007199254740992', EXACT)],
  ['/1?least=1&ids=1&ids=9007199254740992', COOKIE, other('ids', 'range', '9007199254740992', EXACT)],
  [
    '/1?least=1&since=soon',
    COOKIE,
    other('since', 'date', 'soon', 'a date such as 2026-01-31, or a date and time'),
  ],
  ['/1?least=1&ids=1&ids=x', COOKIE, other('ids', 'range', 'x', 'a number')],
  ['/1?least=1&lest=2', COOKIE, wrong('lest', 'unknown', LEST)],
  [
    '/1?least=1&word=%ff',
    COOKIE,
    wrong('word', 'encoding', "Parameter 'word' is not valid percent-encoded UTF-8."),
  ],
  [
    '/1?least=1',
    { ...COOKIE, 'X-Depth': 'secret' },
    wrong('x-depth', 'range', "Header 'x-depth' accepts a number."),
  ],
  ['/1?least=1', {}, NO_SIZE],
  [
    '/1?least=x&isNew=y',
    {},
    other('least', 'range', 'x', 'a number'),
    other('isNew', 'boolean', 'y', FLAG),
    NO_SIZE,
  ],
];

const at = (pointer: string, code: string, detail: string) => ({ pointer, code, detail });
const BORN = 'born must be a date and time such as "2026-01-31T08:00:00.000Z".';
const NAM =
  "There is no such property. Did you mean 'name'? The properties are name, age, days, draft, born.";

/** Bodies whose members are parameters. */
const MEMBERS: readonly (readonly [body: string, status: number, error: object])[] = [
  ['[]', 422, at('', 'isObject', 'The body must be a JSON object.')],
  ['', 400, at('', 'missing', 'The request has no body; send a JSON object.')],
  ['{}', 422, at('/name', 'isDefined', 'name is required.')],
  ['{"name":null}', 422, at('/name', 'isDefined', 'name must not be null.')],
  ['{"name":7}', 422, at('/name', 'isString', 'name must be a string.')],
  ['{"name":"a","age":"5"}', 422, at('/age', 'isNumber', 'age must be a number.')],
  ['{"name":"a","age":{}}', 422, at('/age', 'isNumber', 'age must be a number.')],
  ['{"name":"a","days":[1,"x"]}', 422, at('/days/1', 'isNumber', 'An item must be a number.')],
  ['{"name":"a","days":1}', 422, at('/days', 'isArray', 'days must be a JSON array.')],
  ['{"name":"a","born":"x"}', 422, at('/born', 'isDateTime', BORN)],
  [
    '{"name":"a","draft":{"title":"t","author":{}}}',
    422,
    at('/draft/author/name', 'isString', 'name must be a string.'),
  ],
  ['{"name":"a","nam":1}', 422, at('/nam', 'unknownProperty', NAM)],
];

describe('speaking with one voice', () => {
  const site = serveTestApp(() => ({
    models: [DraftRow, Book, Reader],
    prepare: (app) => app.use(express.urlencoded({ extended: false })),
    bootstrap: { models: [DraftRow, Book], controllers: [DraftController, BookController, HandController] },
  }));

  const post = (path: string, body: string): Test => {
    const request = site.agent.post(path);
    return body === '' ? request : request.set('Content-Type', 'application/json').send(body);
  };
  const detailOf = (errors: readonly object[]): unknown => {
    const [only] = errors as { detail: string }[];
    return errors.length === 1 ? only?.detail : undefined;
  };
  const expectErrors = (answer: Response, status: number, subject: string, ...errors: readonly object[]) => {
    const detail = detailOf(errors) ?? `The ${subject} has ${errors.length} problems.`;
    expectProblem(answer, status, { detail, errors });
  };

  beforeEach(async () => {
    await emptyTables(site, 'books', 'readers');
    await Book.create({ title: 'taken' });
    reached.length = 0;
  });

  for (const [routes, body, status, ...places] of BODIES) {
    it(`answers ${status} to ${body.slice(0, 60) || 'no body'} on ${routes.length} routes`, async () => {
      const [first, ...others] = routes;
      const generated = await post(first as string, body);
      expect(generated.status, generated.text).to.equal(status);
      const { errors } = generated.body as { errors: { pointer: string; code: string }[] };
      expect(errors.map(({ pointer, code }) => [pointer, code])).to.deep.equal(places);
      // Byte by byte.
      for (const path of others) {
        const { status: own, text } = await post(path, body);
        expect([own, text], path).to.deep.equal([status, generated.text]);
      }
      if (status !== 409) expect(reached).to.deep.equal([]);
    });
  }

  it('hands instances on, with the defaults and the types of the class', async () => {
    expect((await post('/hand/drafts', '{"title":"a","tags":[{"name":"b"}]}')).status).to.equal(200);
    expect((await post('/books/added', '{"title":"a"}')).body).to.include({ title: 'a', pages: 1 });
    const [draft, book] = reached as [Draft, object];
    expect(draft).to.be.an.instanceOf(Draft);
    expect(draft.tags?.[0]).to.be.an.instanceOf(Tag);
    expect(book).to.be.an.instanceOf(BookCreate);
  });

  it('has one word for a media type and a charset', async () => {
    for (const path of [...DRAFTS, '/hand/members']) {
      const wrong = await site.agent.post(path).set('Content-Type', 'text/plain').send('title');
      expect([wrong.status, wrong.body.errors[0].code]).to.deep.equal([415, 'mediaType'], path);
      const latin = await site.agent
        .post(path)
        .set('Content-Type', 'application/json; charset=latin1')
        .send('{}');
      expect([latin.status, latin.body.errors[0].code]).to.deep.equal([415, 'charset'], path);
    }
  });

  for (const [path, headers, ...errors] of PARAMETERS) {
    it(`refuses a parameter: GET ${path} ${JSON.stringify(headers)}`, async () => {
      for (const prefix of ['/books/added', '/hand']) {
        const answer = await site.agent.get(prefix + path).set(headers as Record<string, string>);
        expectErrors(answer, 400, 'request', ...errors);
      }
    });
  }

  it('converts parameters that are right', async () => {
    const query = '?least=1&isNew=0&since=2026-01-31&word=5&ids=7';
    const right = {
      count: 2,
      least: 1,
      isNew: false,
      since: '2026-01-31T00:00:00.000Z',
      word: '5',
      ids: [7],
      depth: 4,
      size: 3,
    };
    for (const prefix of ['/books/added', '/hand']) {
      const { body } = await site.agent.get(`${prefix}/2${query}`).set({ ...COOKIE, 'X-Depth': '4' });
      expect(body).to.deep.equal(right);
    }
  });

  it('converts numbers as they were sent, or to the nearest one where they have a fraction or an exponent', async () => {
    for (const [sent, number] of [
      ['9007199254740991', Number.MAX_SAFE_INTEGER],
      ['9007199254740993.0', 2 ** 53],
      ['1e300', 1e300],
      ['-0.1', -0.1],
    ] as const) {
      const { body } = await site.agent.get(`/hand/1?least=${sent}`).set(COOKIE);
      expect(body.least).to.equal(number);
    }
  });

  for (const parser of ['extended', 'simple']) {
    it(`takes lists of any length from the query parser '${parser}'`, async () => {
      const options = { models: [DraftRow], controllers: [HandController] };
      const { agent } = await buildApp(options, (app) => app.set('query parser', parser));
      const ids = Array.from({ length: 100 }, (_, index) => index + 1);
      const query = (name: string, length = ids.length) =>
        ids
          .slice(0, length)
          .map((id) => `${name}=${id}`)
          .join('&');
      for (const length of [1, 2, 20, 21, 100]) {
        const numbers = ids.slice(0, length);
        const texts = numbers.map(String);
        expect((await agent.get(`/hand/lists?${query('id', length)}`)).body).to.deep.equal({ id: numbers });
        expect((await agent.get(`/hand/lists?${query('text', length)}`)).body).to.deep.equal({ text: texts });
        expect((await agent.get(`/hand/names?${query('names', length)}`)).body).to.deep.equal({
          names: texts,
        });
      }
      const single = await agent.get(`/hand/1?${query('least')}`).set(COOKIE);
      expectErrors(single, 400, 'request', twice('least'));
      if (parser === 'simple') return;
      expect((await agent.get(`/hand/lists?${query('id[]')}`)).body).to.deep.equal({ id: ids });
      expectErrors(await agent.get('/hand/lists?id[a]=1'), 400, 'request', twice('id'));
    });
  }

  it('refuses a name in the query string of a route without parameters', async () =>
    expectErrors(
      await site.agent.get('/books/plain?x=1'),
      400,
      'request',
      wrong('x', 'unknown', "This route has no parameter 'x'. It accepts none."),
    ));

  it('speaks of the names of a query string that is a class', async () => {
    expectErrors(
      await site.agent.get('/hand/search?least=12&wort=a'),
      400,
      'request',
      {
        parameter: 'wort',
        code: 'unknown',
        detail: "This route has no parameter 'wort'. Did you mean 'word'? It accepts least, word.",
      },
      { parameter: 'least', code: 'max', detail: 'least must not be greater than 9.' },
    );
    expect((await site.agent.get('/hand/search?least=2')).body).to.deep.equal({ least: 2 });
  });

  for (const [body, status, error] of MEMBERS) {
    it(`refuses a member of a body: ${body || 'none'}`, async () =>
      expectErrors(await post('/hand/members', body), status, 'body', error));
  }

  it('reads the texts of a form as the types of its members', async () => {
    const { body } = await site.agent
      .post('/hand/members')
      .type('form')
      .send('name=a&age=5&days=1&born=2026-01-31');
    expect(body).to.deep.equal({ name: 'a', age: 5, days: [1], born: '2026-01-31T00:00:00.000Z' });
  });

  it('leaves the reading of a body to body-parser where a route has options of it', async () => {
    const long = { title: 'x'.repeat(150_000) };
    expect((await post('/hand/long', JSON.stringify(long))).status).to.equal(200);
    for (const [body, type, status, code] of [
      ['{', 'application/json', 400, 'malformed'],
      ['null', 'application/json', 422, 'isObject'],
      [`"${'x'.repeat(300_000)}"`, 'application/json', 413, 'tooLarge'],
      ['{}', 'text/plain', 415, 'mediaType'],
    ] as const) {
      const answer = await site.agent.post('/hand/long').set('Content-Type', type).send(body);
      expect([answer.status, answer.body.errors[0].code]).to.deep.equal([status, code]);
    }
  });

  it('refuses an object where a body is a text', async () => {
    expectErrors(await post('/hand/text', '{"a":1}'), 422, 'body', {
      pointer: '',
      code: 'isString',
      detail: 'The body must be a string.',
    });
    expect((await post('/hand/text', '"a"')).body).to.deep.equal({ text: 'a' });
  });

  it('names a property of a model without routes', async () => {
    expect((await post('/hand/readers', '{"email":"a"}')).status).to.equal(200);
    expectErrors(await post('/hand/readers', '{"email":"a"}'), 409, 'body', {
      pointer: '/email',
      code: 'unique',
      detail: 'Another Reader has the same email.',
    });
  });
});
