/** Routes of the user's on a resource: a record by another key, the context of overrides, and methods that return nothing. */
import { expect } from 'chai';
import { Get, HttpError, JsonController, OnUndefined, Post } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  type BootstrapOptions,
  Crud,
  type CrudContext,
  crudController,
  InjectContext,
  InjectRecord,
  type ModelClass,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { ApiContract } from '../../support/api-contract.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configProblems } from '../../support/config-error.js';
import { forSuite } from '../../support/for-suite.js';
import { TwoPaths, type WholeRequest } from '../../support/two-paths.js';

@Crud({ scope: { tenantId: (request) => request.get('tenant') } })
@Table({
  tableName: 'pages',
  updatedAt: false,
  paranoid: true,
  indexes: [{ unique: true, fields: ['code'] }],
})
class Sheet extends NumberedRow {
  @Column({ type: DataType.STRING(8), allowNull: false, unique: true }) declare slug: string;
  @Column(DataType.INTEGER) declare code: number | null;
  @Column(DataType.INTEGER) declare tenantId: number;
  @Column({ type: DataType.STRING, unique: 'pair' }) declare left: string | null;
  @Column({ type: DataType.STRING, unique: 'pair' }) declare right: string | null;
  @Column({ type: DataType.JSONB, unique: true }) declare data: object | null;
}

class Sheets extends crudController(Sheet) {
  @Get('/by-slug/:slug')
  bySlug(@InjectRecord({ by: 'slug' }) sheet: Sheet): Sheet {
    return sheet;
  }

  @Get('/by-code/:code/of/:id')
  async both(
    @InjectRecord({ by: 'code' }) { code }: Sheet,
    @InjectRecord() { slug }: Sheet,
  ): Promise<object> {
    return { code, slug };
  }

  @Post('/by-slug/:slug/renaming')
  rename(@InjectRecord({ by: 'slug' }) sheet: Sheet): Promise<Sheet> {
    return sheet.update({ slug: 'renamed' });
  }

  @Get('/of/all')
  async count(@InjectContext() { request, repository }: CrudContext<Sheet>): Promise<object> {
    return { tenant: request.get('tenant'), count: await repository.count() };
  }

  @Post('/of/nothing')
  nothing(@InjectContext() _context: CrudContext): void {}

  @Post('/of/gone')
  @OnUndefined(410)
  gone(): void {}
}

describe('a route of a resource', () => {
  const log = new CapturedLog();
  const defaults = { undefinedResultCode: 204 };
  const options = (routing: BootstrapOptions['routing'] = {}) => ({
    models: [Sheet] as ModelClass[],
    bootstrap: { controllers: [Sheets], routing, logger: log },
  });
  const paths = forSuite(() => TwoPaths.start(options({ defaults })));

  beforeEach(async () => {
    await Sheet.destroy({ truncate: true, restartIdentity: true, force: true });
    const rows = [
      { slug: 'one', code: 2, tenantId: 1 },
      { slug: '1', code: 1, tenantId: 1 },
      { slug: 'theirs', code: 3, tenantId: 2 },
      { slug: 'deleted', code: 4, tenantId: 1, deletedAt: new Date() },
    ];
    await Sheet.bulkCreate(rows as never);
  });

  async function same(path: string, more: Partial<WholeRequest> = {}, undo = async () => {}) {
    const { status, body } = await paths.same({ path, headers: { tenant: '1' }, ...more }, undo);
    return [status, body && JSON.parse(body)];
  }

  it('has the record of a unique attribute, and none of others, deleted ones or another kind', async () => {
    for (const [slug, id] of Object.entries({ one: 1, 1: 2 })) {
      const [status, body] = await same(`/sheets/by-slug/${slug}`);
      expect([status, body.id, body.slug]).to.deep.equal([200, id, slug]);
    }
    expect(await same('/sheets/by-code/1/of/1')).to.deep.equal([200, { code: 1, slug: 'one' }]);
    for (const slug of ['theirs', 'deleted', 'missing', 'longerThanTheColumn', '%E2%98%83'])
      expect(await same(`/sheets/by-slug/${slug}`)).to.deep.equal([
        404,
        { detail: 'There is no Sheet with this slug.' },
      ]);
    const [status, { errors }] = await same('/sheets/by-code/x/of/1');
    expect([status, errors[0].parameter]).to.deep.equal([400, 'code']);
    expect((await same('/sheets/by-code/99999999999/of/1'))[0]).to.equal(404);
  });

  it('locks the record of a write, and changes no other', async () => {
    const undo = () => Sheet.update({ slug: 'one' }, { where: { id: 1 } }).then(() => {});
    const renamed = await same('/sheets/by-slug/one/renaming', { method: 'POST' }, undo);
    expect([renamed[0], renamed[1].slug]).to.deep.equal([200, 'renamed']);
    expect((await same('/sheets/by-slug/theirs/renaming', { method: 'POST' }))[0]).to.equal(404);
    const { status } = await paths.same({ path: '/sheets/by-slug/1/renaming', method: 'POST' });
    expect(status).to.equal(403);
    const slugs = (await Sheet.findAll({ paranoid: false, order: ['id'] })).map(({ slug }) => slug);
    expect(slugs).to.deep.equal(['renamed', '1', 'theirs', 'deleted']);
  });

  it('has the context of overrides, within the access of its request', async () => {
    expect(await same('/sheets/of/all')).to.deep.equal([200, { tenant: '1', count: 2 }]);
    const { status } = await paths.same({ path: '/sheets/of/all' });
    expect(status).to.equal(403);
  });

  it('answers 204 to nothing where the application says so, and else 404 with a line in the log', async () => {
    expect(await same('/sheets/of/nothing', { method: 'POST' })).to.deep.equal([204, '']);
    expect((await same('/sheets/of/gone', { method: 'POST' }))[0]).to.equal(410);
    expect(log.text).to.not.contain('Sheets.');
    const { agent, crud } = await buildApp({ models: [Sheet], ...options().bootstrap });
    const answer = await agent.post('/sheets/of/nothing').set('tenant', '1');
    expect(answer.status).to.equal(404);
    expect(log.text).to.contain(
      'POST /sheets/of/nothing is answered with 404, as Sheets.nothing returned nothing',
    );
    const responsesOf = (application: typeof crud) =>
      application.openapi().paths['/sheets/of/nothing']?.post?.responses;
    expect(responsesOf(paths.site.crud)).to.include.keys('204', '404');
    expect(responsesOf(crud)).to.not.have.property('204');
  });

  it('is described with the parameter of its key', async () => {
    const contract = new ApiContract(paths.site.crud.openapi());
    const operation = contract.operations.get('bySlugSheet')?.operation;
    expect(operation?.parameters).to.deep.equal([
      {
        name: 'slug',
        in: 'path',
        required: true,
        description: 'The slug.',
        schema: { type: 'string', minLength: 1, maxLength: 8 },
      },
    ]);
    contract.check('bySlugSheet', await paths.site.agent.get('/sheets/by-slug/one').set('tenant', '1'));
    contract.check('bySlugSheet', await paths.site.agent.get('/sheets/by-slug/x').set('tenant', '1'));
  });

  it('is refused at the start where it could find several records, or none', async () => {
    const problemsOf = (by: string, path: string) => {
      class Wrong extends crudController(Sheet) {
        @Get(path) wrong(@InjectRecord({ by }) _sheet: Sheet) {
          throw new HttpError(500);
        }
      }
      return configProblems(() => buildApp({ models: [Sheet], controllers: [Wrong] }));
    };
    for (const [by, path, problem] of [
      ['slug', '/s/:id', "Wrong.wrong has @InjectRecord({ by }), but its path '/s/:id' has no ':slug'"],
      [
        'slgu',
        '/s/:slgu',
        "@InjectRecord({ by: 'slgu' }) of Wrong names no attribute of Sheet. Did you mean 'slug'?",
      ],
      [
        'tenantId',
        '/s/:tenantId',
        "@InjectRecord({ by: 'tenantId' }) of Wrong names an attribute that is not unique",
      ],
      ['left', '/s/:left', "@InjectRecord({ by: 'left' }) of Wrong names an attribute that is not unique"],
      [
        'data',
        '/s/:data',
        "@InjectRecord({ by: 'data' }) of Wrong: Sheet: the attribute 'data' is of type json",
      ],
    ] as const)
      expect((await problemsOf(by, path)).join()).to.contain(problem);
    expect(() => InjectRecord({ key: 'slug' } as object)).to.throw(
      "@InjectRecord has no option 'key'. The options are by.",
    );
    @JsonController('/plain')
    class Plain {
      @Get('/') plain(@InjectContext() _context: CrudContext) {}
    }
    const problems = await configProblems(() => buildApp({ models: [Sheet], controllers: [Plain] }));
    expect(problems.join()).to.contain(
      'Plain.plain has @InjectContext(), but the controller has no resource',
    );
  });
});
