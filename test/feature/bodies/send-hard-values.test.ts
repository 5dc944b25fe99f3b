/** Values that PostgreSQL, Sequelize or code of the user's cannot take: 422 names them, and no answer is a 500. */
import { expect } from 'chai';
import { Expose, Transform, Type } from 'class-transformer';
import {
  IsEmail,
  IsInt,
  IsNotEmptyObject,
  IsOptional,
  IsString,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { BadRequestError, Body, BodyParam, JsonController, Post } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, crudController } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { SERVES_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectProblem } from '../../support/expect-answer.js';
import { passingController } from '../../support/passing-controllers.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: [
    'list',
    'read',
    'create',
    'update',
    ...(SERVES_MANY ? (['createMany', 'updateMany'] as const) : []),
  ],
})
@Table({
  tableName: 'hards',
  timestamps: false,
  indexes: [{ fields: ['label'] }, { name: 'hards_note', fields: ['note'] }],
})
class Hard extends NumberedRow {
  @Column(DataType.TEXT) declare label: string | null;
  @Column(DataType.TEXT) declare note: string | null;
  @Column(DataType.JSON) declare json: unknown;
  @Column(DataType.JSONB) declare jsonb: unknown;
  @Column(DataType.ARRAY(DataType.JSONB)) declare parts: unknown[] | null;
  @Column(DataType.RANGE(DataType.INTEGER)) declare span: unknown;
  @Column(DataType.ARRAY(DataType.RANGE(DataType.DATE))) declare periods: unknown;
  @Column(DataType.ARRAY(DataType.TSVECTOR)) declare words: unknown;
  @Column('JSONPATH') declare path: unknown;
  @Column('TSQUERY[]') declare search: unknown;
  @Column('REGCONFIG') declare type: unknown;
  @IsEmail() @Column(DataType.STRING) declare email: string | null;
  @IsOptional() @IsNotEmptyObject() @Column(DataType.JSONB) declare settings: object | null;
}

class Line {
  @IsString() @Transform(({ value }) => value.trim()) declare name: string;
}

class Circle {
  @IsInt() declare radius: number;
}

/** Each value chooses its class. */
const SHAPES = { discriminator: { property: 'kind', subTypes: [{ name: 'circle', value: Circle }] } };

class ShapesRead {
  @Expose() @Type(() => Object, SHAPES) declare shapes: unknown;
}

class Profile {
  @IsOptional()
  @IsString({ each: true })
  @Transform(({ value }) => value.map((each: string) => each.trim()))
  declare tags?: string[];

  @IsOptional() @ValidateNested({ each: true }) @Type(() => Line) declare lines?: Line[];
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Object, SHAPES) declare shapes?: Circle[];
  @IsOptional() @IsInt() @Type(() => Number) declare age?: number;
  @IsOptional() @IsString() @Transform(({ value }) => value.trim()) declare name?: string;
  @IsOptional() @IsEmail() declare login?: string;
  @IsOptional() @IsNotEmptyObject() declare extra?: object;

  @IsOptional()
  @Transform(({ value }) => {
    if (value === 'bug') throw new TypeError('a mistake of the developer');
    if (value === 'refused') throw new BadRequestError('No such word.');
    return value;
  })
  declare word?: string;

  @IsOptional() declare span?: unknown;
}

/** Nothing checks its number. */
@Crud()
@Table({ tableName: 'loose', timestamps: false })
class Loose extends NumberedRow {
  @ValidateIf(() => false) @Min(0) @Column(DataType.INTEGER) declare unchecked: number | null;
}

@Crud({ createSchema: Profile, updateSchema: Profile })
@Table({ tableName: 'people', timestamps: false })
class Person extends NumberedRow {
  @Column(DataType.INTEGER) declare age: number | null;
  @Column(DataType.TEXT) declare name: string | null;
  @Column(DataType.JSONB) declare extra: object | null;
  @Column(DataType.JSONB) declare tags: string[] | null;
  @Column(DataType.JSONB) declare lines: object[] | null;
  @Column(DataType.JSONB) declare shapes: object[] | null;
  @Column(DataType.TEXT) declare word: string | null;
  @Column(DataType.RANGE(DataType.INTEGER)) declare span: unknown;
}

@Crud({ readSchema: ShapesRead, endpoints: ['list'] })
@Table({ tableName: 'drawings', timestamps: false })
class Drawing extends NumberedRow {
  @Column(DataType.JSONB) declare shapes: unknown;
}

class Letter {
  @IsString() declare name: string;
  @IsOptional() declare settings: unknown;
  @IsOptional() @IsInt({ each: true }) @Type(() => Number) declare sizes?: number[];
  @IsOptional() @ValidateNested() @Type(() => Letter) declare answer?: Letter;
}

@JsonController('/letters')
class LetterController {
  @Post('/')
  write(@Body() letter: Letter) {
    return letter;
  }

  @Post('/answers')
  writeAnswer(@BodyParam('letter') letter: Letter) {
    return { letter };
  }
}

const NUMBERS =
  'must hold only numbers that are 0 or from 1e-40 to 1e40 in size; send another one as a string.';
const RANGE =
  'must be a range such as {"lower":…,"upper":…,"bounds":"[)"}, with the lower bound first, null for none, or {"empty":true}; ' +
  'a bound must be an integer.';
const STORABLE =
  'must not hold NUL characters, lone surrogates, or keys named __proto__, constructor or prototype.';
const INHERITED = 'must not hold keys that every object inherits, such as hasOwnProperty.';
const REFUSED = { detail: 'The database does not accept these values.' };
const WRITES = [
  ['post', '/hards'],
  ['patch', '/hards/1'],
] as const;
/** Too long for an index, however it is compressed. */
const longText = (length: number) =>
  Array.from({ length }, (_, index) => ((index * 7919) % 100_003).toString(36)).join('');

describe('sending hard values', () => {
  const site = serveTestApp(() => ({
    models: [Hard, Person, Drawing, Loose],
    bootstrap: { controllers: [LetterController] },
  }));

  /** As JSON text: no client writes some of it. */
  const write = (method: 'post' | 'patch', path: string, body: string) =>
    site.agent[method](path).type('json').send(body);

  beforeEach(async () => {
    await emptyTables(site, 'hards', 'people');
    await Hard.create();
    await Person.create();
  });

  describe('in JSON columns', () => {
    for (const number of ['1e308', '-1e41', '1e-41', '-5e-324', '1e400', '-1e400']) {
      for (const [body, pointer, name] of [
        [`{"jsonb":${number}}`, '/jsonb', 'jsonb'],
        [`{"json":{"a/b":[0,${number}]}}`, '/json/a~1b/1', 'json'],
        [`{"parts":[1,{"c":${number}}]}`, '/parts/1/c', 'parts'],
      ] as const) {
        it(`refuses ${body}`, async () => {
          const issue = { pointer, code: 'isJsonNumber', detail: `${name} ${NUMBERS}` };
          expectIssue(await write('post', '/hards', body), 422, issue);
          expectIssue(await write('patch', '/hards/1', body), 422, issue);
          if (!SERVES_MANY) return;
          const second = { ...issue, pointer: `/1${pointer}` };
          expectIssue(await write('post', '/hards', `[{},${body}]`), 422, second);
        });
      }
    }

    for (const number of ['0', '-0', '1e40', '-1e40', '1e-40', '6.62607015e-34', '12345678901234567890']) {
      it(`takes ${number}, and gives it back`, async () => {
        const { status, body } = await write('post', '/hards', `{"jsonb":[${number}],"json":${number}}`);
        expect(status).to.equal(201);
        expect(body).to.deep.include({ jsonb: [Number(number) + 0], json: Number(number) + 0 });
      });
    }

    it('names a hundred of many', async () => {
      const { status, body } = await write('post', '/hards', `{"jsonb":[${'1e99,'.repeat(15_000)}0]}`);
      expect([status, body.errors.length, body.errors.at(-1).pointer]).to.deep.equal([422, 100, '/jsonb/99']);
    });
  });

  describe('in columns of other types', () => {
    const bounds = '{"lower":[1],"upper":2} {"lower":{"toString":1},"upper":2} {"lower":1e99,"upper":null}';
    for (const [name, values] of [
      ['span', `"x" 1 true {} [1,2] ${bounds}`],
      ['periods', '[["a"]] [1] [[1,2,3]]'],
    ] as const) {
      for (const value of values.split(' ')) {
        it(`refuses ${value} for ${name}`, async () => {
          for (const [method, path] of WRITES) {
            const { status, body } = await write(method, path, `{"${name}":${value}}`);
            expect(body.errors[0].pointer).to.equal(`/${name}`);
            expect(status).to.equal(422);
            if (name === 'span') expect(body.detail).to.equal(`span ${RANGE}`);
          }
        });
      }
    }

    it('takes the ranges that it gives', async () => {
      for (const span of [{ empty: true }, { lower: 1, upper: 5 }, { lower: null, upper: 7, bounds: '(]' }]) {
        const created = await site.agent.post('/hards').send({ span });
        expect(created.status).to.equal(201);
        const again = await site.agent.patch('/hards/1').send({ span: created.body.span });
        expect([again.status, again.body.span]).to.deep.equal([200, created.body.span]);
      }
    });

    for (const [name, value] of [
      ['words', [`'a`]],
      ['words', [longText(9_000)]],
      ['path', '$.'],
      ['path', [1]],
      ['search', ['a b']],
      ['search', [longText(3_000)]],
      ['type', 'no such type'],
      ['type', 'no_such_type'],
    ] as const) {
      it(`refuses ${JSON.stringify(value).slice(0, 20)} for ${name}, which the database does`, async () => {
        for (const [method, path] of WRITES) {
          expectProblem(await site.agent[method](path).send({ [name]: value }), 422, REFUSED);
        }
        if (!SERVES_MANY) return;
        expect((await site.agent.post('/hards').send([{}, { [name]: value }])).status).to.equal(422);
      });
    }

    it('refuses texts that are too long for their index', async () => {
      expectProblem(await site.agent.post('/hards').send({ label: longText(9_000) }), 422, REFUSED);
      const detail = 'The database does not accept the value of note.';
      const note = await site.agent.patch('/hards/1').send({ note: longText(1_500) });
      expectIssue(note, 422, { pointer: '/note', code: 'invalid', detail });
    });
  });

  describe('to decorators of a model', () => {
    it('refuses half a character in an address', async () =>
      expectIssue(await write('post', '/hards', '{"email":"a\\ud800@example.org"}'), 422, {
        pointer: '/email',
        code: 'isStorableText',
        detail: 'email must be well-formed text without NUL characters.',
      }));

    it('refuses an object for a number that they leave unchecked', async () => {
      const { agent } = await buildApp({
        models: [],
        controllers: [passingController(crudController(Loose))],
      });
      for (const value of ['{"toString":""}', '{"toString":1,"valueOf":1}', '{}']) {
        const body = `{"unchecked":${value}}`;
        expect((await write('post', '/looses', body)).status, value).to.equal(422);
        expect((await agent.post('/looses').type('json').send(body)).status, value).to.equal(422);
      }
    });

    it('refuses keys that take the place of methods', async () =>
      expectIssue(await write('patch', '/hards/1', '{"settings":{"hasOwnProperty":1}}'), 422, {
        pointer: '/settings',
        code: 'isPlainObject',
        detail: `settings ${INHERITED}`,
      }));
  });

  describe('to a class of the user', () => {
    for (const [body, pointer, code, detail] of [
      ['{"age":{"toString":1}}', '/age', 'isInt', 'age must be an integer number.'],
      ['{"name":5}', '/name', 'isString', 'name must be a string.'],
      ['{"name":{"trim":1}}', '/name', 'isString', 'name must be a string.'],
      ['{"name":null}', '/name', 'isString', 'name must be a string.'],
      [
        '{"login":"\\ud800@example.org"}',
        '/login',
        'isStorableText',
        'login must be well-formed text without NUL characters.',
      ],
      [
        '{"word":"\\u0000"}',
        '/word',
        'isStorableText',
        'word must be well-formed text without NUL characters.',
      ],
      ['{"extra":{"a":["\\ud800"]}}', '/extra', 'isStorableJson', `extra ${STORABLE}`],
      ['{"extra":{"hasOwnProperty":1}}', '/extra', 'isPlainObject', `extra ${INHERITED}`],
      ['{"extra":{"a":[1e400]}}', '/extra/a/0', 'isJsonNumber', `extra ${NUMBERS}`],
      ['{"age":1e400}', '/age', 'isFinite', 'age must hold only numbers that fit into a double.'],
      ['{"span":5}', '/span', 'isRange', `span ${RANGE}`],
      ['{"tags":[[]]}', '/tags', 'isString', 'each value in tags must be a string.'],
      ['{"lines":[{"name":5}]}', '/lines/0/name', 'isString', 'name must be a string.'],
      [
        '{"shapes":[null]}',
        '/shapes/0',
        'nestedValidation',
        'each value in nested property shapes must be either object or array.',
      ],
    ] as const) {
      it(`refuses ${body}`, async () => {
        expectIssue(await write('post', '/people', body), 422, { pointer, code, detail });
        expectIssue(await write('patch', '/people/1', body), 422, { pointer, code, detail });
      });
    }

    it('gives back what has no class where each value has one of its own', async () => {
      const shapes = [null, { kind: 'circle', radius: 1 }, [], 'a', {}, { a: 1 }];
      await Drawing.create({ shapes });
      const { body, status } = await site.agent.get('/drawings');
      expect(status).to.equal(200);
      expect(body.items).to.deep.equal([{ shapes }]);
    });

    it('gives it what is right', async () => {
      const lines = [{ name: ' a ' }];
      const body = { age: '7', name: ' Ann ', extra: { toString: 1 }, span: [1, 2], lines };
      const answer = await site.agent.post('/people').send(body);
      expect(answer.body).to.deep.include({
        age: 7,
        name: 'Ann',
        extra: { toString: 1 },
        lines: [{ name: 'a' }],
      });
      expect(answer.status).to.equal(201);
    });

    it('answers with the HTTP error that it throws', async () =>
      expectProblem(await write('post', '/people', '{"word":"refused"}'), 400, { detail: 'No such word.' }));

    it('has mistakes of its own, which are answered without a word about them', async () =>
      expectProblem(await write('post', '/people', '{"word":"bug"}'), 500, {
        detail: 'Internal Server Error',
      }));
  });

  describe("to a route of the user's", () => {
    for (const [body, status] of [
      ['{"name":"a","settings":{"constructor":1}}', 422],
      ['{"name":{"constructor":1}}', 422],
      ['{"name":"a","settings":[{"__proto__":{"a":1}}]}', 422],
      ['{"name":5}', 422],
      ['{"name":"a","sizes":[{"toString":1}]}', 422],
      ['{"name":"a","sizes":[1,2]}', 200],
      ['{}', 422],
      [`${'{"name":"a","answer":'.repeat(30)}{"name":"a"}${'}'.repeat(30)}`, 200],
      [`${'{"name":"a","answer":'.repeat(3_000)}{"name":"a"}${'}'.repeat(3_000)}`, 400],
      ['{"name":"a","settings":{"toJSON":1,"then":2,"hasOwnProperty":3,"length":4}}', 200],
    ] as const) {
      it(`answers ${body.slice(0, 80)} with ${status}`, async () => {
        const answer = await write('post', '/letters', body);
        expect([answer.status, answer.type]).to.deep.equal([
          status,
          status === 200 ? 'application/json' : 'application/problem+json',
        ]);
        if (status === 200) expect(answer.text).to.equal(body);
        const member = `{"letter":${body}}`;
        const inMember = await write('post', '/letters/answers', member);
        expect(inMember.status).to.equal(status);
        if (status === 200) expect(inMember.text).to.equal(member);
      });
    }

    it('says which keys no body may hold', async () =>
      expectIssue(await write('post', '/letters', '{"name":"a","settings":{"prototype":1}}'), 422, {
        pointer: '/settings',
        code: 'isStorableJson',
        detail:
          'settings must not hold NUL characters, lone surrogates, or keys named __proto__, constructor or prototype.',
      }));
  });
});
