/** Routes of the user's with a class for all parameters: a value that does not fit the class never reaches the method. */
import { expect } from 'chai';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, ValidateNested } from 'class-validator';
import {
  Body,
  BodyParam,
  Get,
  HeaderParams,
  JsonController,
  Post,
  QueryParam,
  QueryParams,
} from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { type Class, Crud, crudController } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configProblems } from '../../support/config-error.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

class Rating {
  @IsInt() @Max(5) declare stars: number;
}

class Sheet {
  @IsOptional() @ValidateNested() @Type(() => Rating) declare best?: Rating;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Rating) declare all?: Rating[];
}

class Search {
  @IsOptional() @IsString() declare text?: string;
}

class Notice {
  @IsString() declare title: string;
  @IsOptional() @ValidateNested() @Type(() => Rating) declare rating?: Rating;
}

@Crud({ createSchema: Notice })
@Table({ tableName: 'notes', timestamps: false })
class Note extends NumberedRow {
  @Column(DataType.STRING(20)) declare title: string | null;
  @Column(DataType.JSONB) declare rating: unknown;
}

const took: unknown[] = [];

/** Keeps the argument of a method, and returns the name of its class; for a list those of its elements. */
function take(value: unknown): object {
  took.push(value);
  const kind = (each: unknown) => each?.constructor.name;
  return { kind: Array.isArray(value) ? value.map(kind) : kind(value), value };
}

class NoteController extends crudController(Note) {
  @Post('/rate')
  rate(@Body() rating: Rating) {
    return take(rating);
  }

  @Post('/rate-all')
  rateAll(@Body({ type: Rating }) ratings: Rating[]) {
    return take(ratings);
  }

  @Post('/sheet')
  sheet(@Body() sheet: Sheet) {
    return take(sheet);
  }
}

@JsonController('/tools')
class ToolController {
  @Post('/rate')
  rate(@Body({ required: true }) rating: Rating) {
    return take(rating);
  }

  @Post('/member')
  member(@BodyParam('rating') rating: Rating) {
    return take(rating);
  }

  @Post('/members')
  members(@BodyParam('ratings', { type: Rating }) ratings: Rating[]) {
    return take(ratings);
  }

  @Post('/numbers')
  numbers(@Body({ type: Number }) numbers: number[]) {
    return take(numbers);
  }

  @Post('/any')
  any(@Body() value: unknown) {
    return take(value);
  }

  @Post('/unchecked')
  unchecked(@Body({ validate: false }) rating: Rating) {
    return take(rating);
  }

  @Get('/filter')
  filter(@QueryParam('rating') rating: Rating) {
    return take(rating);
  }

  @Get('/search')
  search(@QueryParams() search: Search) {
    return take(search);
  }

  @Get('/headers')
  headers(@HeaderParams() search: Search) {
    return take(search);
  }
}

const BAD = [{ stars: 99, evil: 1 }];
const NO_OBJECT = { pointer: '', code: 'isObject', detail: 'The body must be a JSON object.' };
const NO_ARRAY = { pointer: '', code: 'isArray', detail: 'The body must be a JSON array.' };

describe('asking for a class', () => {
  const site = serveTestApp(() => ({
    models: [Note],
    bootstrap: { models: [], controllers: [NoteController, ToolController] },
  }));

  const post = (path: string, body: unknown) =>
    site.agent.post(path).set('Content-Type', 'application/json').send(JSON.stringify(body));

  const expectProblems = (
    answer: Response,
    ...errors: readonly { pointer: string; code: string; detail: string }[]
  ) => {
    const [only, ...others] = errors;
    const detail = others.length > 0 ? `The body has ${errors.length} problems.` : only?.detail;
    expectProblem(answer, 422, { detail, errors });
  };

  beforeEach(() => {
    took.length = 0;
  });

  for (const path of ['/notes/rate', '/tools/rate']) {
    it(`[U6] refuses what is no object: POST ${path}`, async () => {
      for (const body of [BAD, [], [1], [[{ stars: 1 }]], null, 'text', 7, true]) {
        expectIssue(await post(path, body), 422, NO_OBJECT);
      }
      expect(took).to.deep.equal([]);
      expectJson(await post(path, { stars: 3 }), 200, { kind: 'Rating', value: { stars: 3 } });
      expectProblems(await post(path, { stars: 9 }), {
        pointer: '/stars',
        code: 'max',
        detail: 'stars must not be greater than 5.',
      });
    });
  }

  it('validates each item of a list, and refuses what is no list', async () => {
    for (const body of [{ stars: 3 }, {}, null, 'text']) {
      expectIssue(await post('/notes/rate-all', body), 422, NO_ARRAY);
    }
    expectProblem(await post('/notes/rate-all', [{ stars: 1 }, 7, []]), 422, {
      detail: 'The body has 2 problems.',
      errors: [1, 2].map((index) => ({
        pointer: `/${index}`,
        code: 'isObject',
        detail: 'An item must be a JSON object.',
      })),
    });
    expectProblems(
      await post('/notes/rate-all', [{ stars: 1 }, ...BAD]),
      {
        pointer: '/1/evil',
        code: 'unknownProperty',
        detail: 'There is no such property. The properties are stars.',
      },
      { pointer: '/1/stars', code: 'max', detail: 'stars must not be greater than 5.' },
    );
    expect(took).to.deep.equal([]);
    expectJson(await post('/notes/rate-all', [{ stars: 1 }, { stars: 2 }]), 200, {
      kind: ['Rating', 'Rating'],
      value: [{ stars: 1 }, { stars: 2 }],
    });
    expectJson(await post('/notes/rate-all', []), 200, { kind: [], value: [] });
  });

  it('refuses several objects for one inside of it, and one for several', async () => {
    expectProblems(
      await post('/notes/sheet', { best: [{ stars: 1 }], all: { stars: 1 } }),
      { pointer: '/best', code: 'isObject', detail: 'best must be an object.' },
      { pointer: '/all', code: 'isArray', detail: 'all must be an array.' },
    );
    expectProblems(await post('/notes/sheet', { all: [[]] }), {
      pointer: '/all/0',
      code: 'isObject',
      detail: 'An item must be an object.',
    });
    expect(took).to.deep.equal([]);
    const sheet = { best: { stars: 1 }, all: [{ stars: 2 }] };
    expectJson(await post('/notes/sheet', sheet), 200, { kind: 'Sheet', value: sheet });
  });

  it('says the same of a generated route with a class of the user', async () => {
    expectIssue(await post('/notes', { title: 'a', rating: [{ stars: 1 }] }), 422, {
      pointer: '/rating',
      code: 'isObject',
      detail: 'rating must be an object.',
    });
    expect((await post('/notes', { title: 'a', rating: { stars: 1 } })).status).to.equal(201);
  });

  it('holds for a member of a body, and for a query parameter', async () => {
    const issue = (code: string, kind: string, name = 'rating') => ({
      pointer: `/${name}`,
      code,
      detail: `${name} must be a JSON ${kind}.`,
    });
    for (const rating of [BAD, 7, 'null and void']) {
      const response = await post('/tools/member', { rating });
      expectIssue(response, 422, issue('isObject', 'object'));
    }
    expectIssue(
      await post('/tools/members', { ratings: { stars: 1 } }),
      422,
      issue('isArray', 'array', 'ratings'),
    );
    expect((await post('/tools/members', { ratings: BAD })).status).to.equal(422);
    const inQuery = { parameter: 'rating', code: 'isObject', detail: 'rating must be a JSON object.' };
    for (const text of ['[{"stars":99}]', '7', '"text"']) {
      const path = `/tools/filter?rating=${encodeURIComponent(text)}`;
      expectIssue(await site.agent.get(path), 400, inQuery);
    }
    expect(took).to.deep.equal([]);
    expectJson(await post('/tools/members', { ratings: [{ stars: 1 }] }), 200, {
      kind: ['Rating'],
      value: [{ stars: 1 }],
    });
    expectJson(await post('/tools/member', {}), 200, {});
  });

  it('asks nothing of what no class is named for, and obeys validate: false', async () => {
    for (const body of [BAD, [], { stars: 99 }]) {
      expect((await post('/tools/any', body)).body.value).to.deep.equal(body);
      expect((await post('/tools/unchecked', body)).body.value).to.deep.equal(body);
    }
    expectJson(await post('/tools/numbers', [1, 2]), 200, { kind: ['Number', 'Number'], value: [1, 2] });
    expectIssue(await post('/tools/numbers', { 0: 1 }), 422, NO_ARRAY);
  });

  it('leaves out the headers that a class does not name', async () => {
    expectJson(await site.agent.get('/tools/headers').set('text', 'a'), 200, {
      kind: 'Search',
      value: { text: 'a' },
    });
    expect((await site.agent.get('/tools/search?text=a&other=b')).status).to.equal(400);
  });

  describe('is a problem of the start', () => {
    class Bare {
      declare stars: number;
    }

    class Holder {
      @ValidateNested() @Type(() => Bare) declare bare: Bare;
      @ValidateNested({ each: true }) declare untyped: Rating[];
    }

    const problemsOf = (controller: Class) =>
      configProblems(() => buildApp({ models: [], controllers: [controller] }));
    const end = (decorator: string) =>
      `, so ${decorator} would refuse every request; decorate the class, or write validate: false in the options of the ` +
      'parameter to take what is sent.';

    it('where a parameter has no decorator, and would have the value of the next one', async () => {
      @JsonController('/bares')
      class BareController {
        @Post('/:id')
        add(id: number, @QueryParam('size') size: number, last: number, fallback = 1) {
          return { id, size, last, fallback };
        }
        @Post('/')
        send(rating: Rating) {
          return rating;
        }
      }
      const lineOf = (route: string, place: number) =>
        `BareController.${route}: parameter ${place} has no decorator, so it would have no value, or that of the next one; ` +
        'put one on it, such as @Body() or @InjectRecord(), or give it a default value where requests have none.';
      expect(await problemsOf(BareController)).to.deep.equal([
        lineOf('add (POST /bares/:id)', 1),
        lineOf('add (POST /bares/:id)', 3),
        lineOf('send (POST /bares/)', 1),
      ]);
    });

    it('[U6] where nothing is known of the class, or of one inside of it', async () => {
      @JsonController('/bares')
      class BareController {
        @Post('/')
        add(@Body() bare: Bare, @QueryParams() all: Bare) {
          return { bare, all };
        }

        @Post('/holder')
        hold(@BodyParam('holder') holder: Holder) {
          return holder;
        }

        @Post('/open')
        open(@Body({ validate: false }) bare: Bare) {
          return bare;
        }
      }
      const undecorated = 'no property of Bare has a class-validator decorator';
      expect(await problemsOf(BareController)).to.have.members([
        `BareController.add (POST /bares/): ${undecorated}${end('@Body()')}`,
        `BareController.add (POST /bares/): ${undecorated}${end('@QueryParams()')}`,
        `BareController.hold (POST /bares/holder): no property of Bare, the @Type of Holder.bare, has a class-validator decorator${end("@BodyParam('holder')")}`,
        `BareController.hold (POST /bares/holder): Holder.untyped has @ValidateNested(), and no @Type(() => …) that says which class its objects are of${end("@BodyParam('holder')")}`,
      ]);
    });

    it('also in a body of a generated route', async () => {
      class Draft {
        @ValidateNested() @Type(() => Bare) declare rating: Bare;
      }
      class DraftController extends crudController(Note, { createSchema: Draft }) {}
      expect(await problemsOf(DraftController)).to.deep.equal([
        'Note: no property of Bare, the @Type of Draft.rating, has a class-validator decorator, so every object there would be ' +
          'refused; decorate the class.',
      ]);
    });

    it('or a warning, where the items of a body have no type', async () => {
      @JsonController('/lists')
      class ListController {
        @Post('/')
        add(@Body() ratings: Rating[]) {
          return ratings;
        }
      }
      const logger = new CapturedLog();
      const { agent } = await buildApp({ models: [], controllers: [ListController], logger });
      expect(logger.lines.map(({ message }) => message)).to.deep.equal([
        'ListController.add (POST /lists/): the items of @Body() are not validated, because TypeScript emits no type of them; ' +
          'write type: Item in its options, with the class of an item, or String, Number or Boolean.',
      ]);
      expectIssue(await agent.post('/lists').send({ stars: 1 }), 422, NO_ARRAY);
      expectJson(await agent.post('/lists').send([{ stars: 1 }]), 200, [{ stars: 1 }]);
    });
  });
});
