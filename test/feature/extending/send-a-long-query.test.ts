/** Query strings of more parameters than Express reads: a route of the user's has all of them, or the request is refused. */
import { parse } from 'node:querystring';
import { expect } from 'chai';
import { IsOptional, IsString } from 'class-validator';
import type { Express } from 'express';
import { Get, JsonController, QueryParam, QueryParams } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import { Crud, crudController } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { expectIssue, expectJson } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'picks', timestamps: false })
class Pick extends NumberedRow {}

class Choice {
  @IsOptional() @IsString() declare dry?: string;
}

class PickController extends crudController(Pick) {
  @Get('/picked')
  picked(@QueryParam('ids', { type: Number, isArray: true }) ids: number[], @QueryParam('dry') dry: boolean) {
    return { count: ids.length, dry: dry ?? null };
  }
}

@JsonController('/choices')
class ChoiceController {
  @Get()
  choose(@QueryParams() { dry }: Choice) {
    return { dry: dry ?? null };
  }

  @Get('/any')
  any(@QueryParams() values: object) {
    return { count: Object.keys(values).length };
  }
}

const DETAIL = 'The query string has more than 1000 parameters; send fewer.';
const queryOf = (count: number, pair: (index: number) => string, last: string): string =>
  [...Array.from({ length: count }, (_, index) => pair(index)), last].join('&');

describe('a query string of many parameters', () => {
  const options = { models: [Pick], controllers: [PickController, ChoiceController] };
  serveTestApp(() => ({ models: [Pick], bootstrap: options }));

  const serve = async (prepare: (app: Express) => unknown) => {
    const { agent } = await buildApp(options, (app) => void prepare(app));
    return agent;
  };
  const ids = (count: number) => queryOf(count, (index) => `ids=${index}`, 'dry=true');

  for (const parser of ['simple', 'extended']) {
    it(`is read whole by a route, or refused, with the parser '${parser}'`, async () => {
      const agent = await serve((app) => app.set('query parser', parser));
      expectJson(await agent.get(`/picks/picked?${ids(999)}`), 200, { count: 999, dry: true });
      const issue = { parameter: 'dry', code: 'tooMany', detail: DETAIL };
      expectIssue(await agent.get(`/picks/picked?${ids(1_000)}`), 400, issue);
      expectIssue(await agent.get(`/choices?${queryOf(1_000, () => 'x=', 'dry=1')}`), 400, issue);
      const many = queryOf(1_000, (index) => `n${index}`, '%64ry');
      expectIssue(await agent.get(`/choices/any?${many}`), 400, issue);
    });
  }

  it('is read whole by a parser of the application', async () => {
    const agent = await serve((app) =>
      app.use((request, _response, next) => {
        const value = parse(request.url.split('?')[1] ?? '', '&', '=', { maxKeys: 0 });
        Object.defineProperty(request, 'query', { value });
        next();
      }),
    );
    expectJson(await agent.get(`/picks/picked?${ids(1_200)}`), 200, { count: 1_200, dry: true });
  });

  it('is bounded for no route whose values are long', async () => {
    const agent = await serve(() => {});
    const dry = 'x'.repeat(2_000);
    expect((await agent.get(`/choices?dry=${dry}`)).body).to.deep.equal({ dry });
  });
});
