/** Hand-written controllers below the path of a resource: their literal segments come before a record's id, or the start refuses them. */
import { expect } from 'chai';
import { All, Delete, Get, Head, JsonController, Param, Patch, Post, Put } from 'routing-controllers';
import { type Class, crudController } from '../../../src/index.js';
import { Note, Remark } from '../../models/notes.js';
import { buildApp } from '../../support/build-app.js';
import { UNGUARDED } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { expectJson, expectNoMethod, expectNothing } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

/** The answer of a method. */
const by = (own: string) => ({ own });

class NoteController extends crudController(Note, { subresources: { remarks: UNGUARDED } }) {
  // Declared first, and wider than the one behind it.
  @Post('/:id/:part')
  part(@Param('part') part: string) {
    return by(`part ${part}`);
  }

  @Post('/:id/summary')
  summary() {
    return by('summary');
  }
}

@JsonController('/notes')
class StatsController {
  @Get('/stats')
  @Get('/stats/daily')
  @Get('/stats/remarks')
  @Get(/\/(?:top|last)$/)
  @Post('/import')
  @Delete('/all')
  @Patch('/Batch')
  @All('/any')
  own() {
    return by('stats');
  }

  @Post('/:id/copy')
  copy(@Param('id') id: string) {
    return by(`copy ${id}`);
  }
}

/** Wider than a resource: it gets the paths that the resource does not have. */
@JsonController('/:any')
class RestController {
  @Get('/:thing')
  thing(@Param('any') any: string) {
    return by(`rest ${any}`);
  }

  @Put('/:thing')
  put() {
    return by('rest put');
  }
}

describe('an own controller below a resource', () => {
  serveTestApp(() => ({ models: [Note, Remark], bootstrap: { models: [] } }));

  before(() => Note.create({ title: 'one' }));

  const orders: readonly (readonly Class[])[] = [
    [StatsController, NoteController, RestController],
    [NoteController, RestController, StatsController],
  ];
  for (const controllers of orders) {
    for (const routePrefix of ['', '/api']) {
      const names = controllers.map(({ name }) => name.replace('Controller', '')).join(', ');

      it(`[U5] is asked before an id: ${names}${routePrefix && ` under ${routePrefix}`}`, async () => {
        const { agent, crud } = await buildApp({
          models: [Remark],
          controllers: [...controllers],
          routePrefix,
        });
        const at = `${routePrefix}/notes`;
        for (const [verb, path] of [
          ...['stats', 'STATS/', 'any', 'stats/daily', 'stats/remarks', 'top'].map(
            (path) => ['get', path] as const,
          ),
          ['post', 'import'],
          ['delete', 'all'],
          ['patch', 'batch'],
          ['patch', 'any'],
          ['put', 'any'],
          ['delete', 'any'],
        ] as const)
          expectJson(await agent[verb](`${at}/${path}`), 200, by('stats'));
        expectJson(await agent.post(`${at}/7/copy`).send({}), 200, by('copy 7'));
        // All others are as they were.
        expectJson(await agent.get(`${at}/1`), 200, { id: 1, title: 'one', deletedAt: null });
        expect((await agent.get(at)).body.total).to.equal(1);
        expect((await agent.get(`${at}/1/remarks`)).body.total).to.equal(0);
        expectJson(await agent.post(`${at}/1/summary`).send({}), 200, by('summary'));
        expectJson(await agent.post(`${at}/1/other`).send({}), 200, by('part other'));
        expect((await agent.post(`${at}/1/restore`)).status).to.equal(409);
        expect((await agent.get(`${at}/other`)).status).to.equal(400);
        expect((await agent.patch(`${at}/stats`).send({})).status).to.equal(400);
        expectJson(await agent.get(`${routePrefix}/else/where`), 200, by('rest else'));
        expect(crud.openapi().paths).to.include.keys(`${at}/stats`, `${at}/import`, `${at}/stats/daily`);
      });
    }
  }

  it('closes its path with all that it has', async () => {
    const { agent } = await buildApp({ models: [Remark], controllers: [NoteController, StatsController] });
    const allow = 'POST, GET, HEAD, PATCH, DELETE, OPTIONS';
    const options = await agent.options('/notes/import');
    expectNothing(options, 204);
    expect(options.headers['allow']).to.equal(allow);
    const refused = await agent.put('/notes/import');
    expectNoMethod(refused, 'PUT', allow);
  });

  it('leaves a HEAD of its own before a GET of a record', async () => {
    @JsonController('/notes')
    class HeadController {
      @Head('/size')
      size() {
        return by('head');
      }
    }
    const { agent } = await buildApp({ models: [Remark, Note], controllers: [HeadController] });
    expect((await agent.head('/notes/size')).status).to.equal(200);
    expect((await agent.get('/notes/size')).status).to.equal(400);
  });

  for (const routePrefix of ['', '/api']) {
    it(`leaves health and documentation${routePrefix && ` under ${routePrefix}`} where it takes any path`, async () => {
      @JsonController()
      class AnyPathController {
        @Get('/:slug')
        page(@Param('slug') slug: string) {
          return by(slug);
        }

        @All('/:section/:slug')
        section(@Param('section') section: string) {
          return by(section);
        }

        @Get('/health/:name/details')
        details(@Param('name') name: string) {
          return by(`details of ${name}`);
        }

        @Get(/^\/(?!v\d).*/)
        rest() {
          return by('rest');
        }
      }
      const { agent } = await buildApp({
        models: [Note, Remark],
        controllers: [AnyPathController],
        routePrefix,
        health: { prefix: `${routePrefix}/health` },
        docs: { path: `${routePrefix}/docs` },
      });
      const at = routePrefix;
      expectJson(await agent.get(`${at}/health/live`), 200, { status: 'alive' });
      expect((await agent.get(`${at}/health/ready`)).body.status).to.equal('healthy');
      expect((await agent.get(`${at}/openapi.json`)).body.openapi).to.equal('3.1.0');
      expect((await agent.get(`${at}/docs`)).text).to.include('<title>');
      expectNoMethod(await agent.post(`${at}/health/ready`), 'POST', 'GET, HEAD, OPTIONS');
      expectJson(await agent.get(`${at}/page`), 200, by('page'));
      expectJson(await agent.get(`${at}/blog/page`), 200, by('blog'));
      expectJson(await agent.get(`${at}/a/b/c`), 200, by('rest'));
      expectJson(await agent.get(`${at}/health/db/details`), 200, by('details of db'));
      // Paths beside those that are served stay the route's own.
      expectJson(await agent.get(`${at}/docs/intro`), 200, by('docs'));
      expectJson(await agent.get(`${at}/health/db`), 200, by('health'));
      expect((await agent.get(`${at}/docs/page.css`)).type).to.equal('text/css');
      expect((await agent.get(`${at}/notes`)).body.total).to.equal(1);
    });
  }

  describe('is refused', () => {
    it('[U5] where nothing would ever ask it', async () => {
      @JsonController('/notes')
      class SlugController {
        @Get('/')
        all() {
          return by('all');
        }

        @Get('/:slug')
        bySlug() {
          return by('slug');
        }

        @Get('/:slug/REMARKS')
        remarks() {
          return by('remarks');
        }

        @Post('/:slug/publish')
        publish() {
          return by('publish');
        }
      }
      const end = ', or give one of them another path.';
      const leave = (name: string) =>
        `leave '${name}' out of the endpoints of Note, override the method${end}`;
      const options = { models: [Remark], controllers: [NoteController, SlugController] };
      expect(await configProblems(() => buildApp(options))).to.deep.equal([
        `SlugController.all would never be reached: Note.list answers GET /notes/, too; ${leave('list')}`,
        `SlugController.bySlug would never be reached: Note.read answers GET /notes/:slug, too; ${leave('read')}`,
        'SlugController.remarks would never be reached: Note.subresources.remarks answers GET /notes/:slug/REMARKS, too; leave it out of ' +
          `the subresources of Note${end}`,
      ]);
    });

    it('only by endpoints that are there', async () => {
      @JsonController('/remarks')
      class RemarkController {
        @Get('/:slug')
        bySlug() {
          return by('slug');
        }
      }
      const { agent } = await buildApp({ models: [Remark], controllers: [RemarkController] });
      expectJson(await agent.get('/remarks/7'), 200, by('slug'));
    });
  });
});
