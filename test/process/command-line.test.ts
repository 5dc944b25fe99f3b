/** The command `crud-controllers`, as a process of its own. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tryRun } from '../package/run.js';
import { COMPILED_SOURCE, PACKAGE_ROOT } from '../support/package-root.js';
import { consoleExamples, readmeBlocks } from '../support/readme-examples.js';
import { itWhole, wholeOr } from '../support/short.js';

const COMMAND = join(COMPILED_SOURCE, 'command-line.js');

/** A program that is started by its import. Its database and its port are not reached. */
const startingWith = (options: string, end = 'void main();') => `
require('reflect-metadata');
const { bootstrap, Crud, engineLifespan, serve } = require('crud-controllers');
const express = require('express');
const { Column, DataType, Model, Table } = require('sequelize-typescript');
class Author extends Model {}
Column(DataType.STRING)(Author.prototype, 'name');
Table({ tableName: 'authors' })(Author);
Crud({ endpoints: ['read'] })(Author);
class Book extends Model {}
Column(DataType.STRING)(Book.prototype, 'title');
Column(DataType.INTEGER)(Book.prototype, 'tenant');
Table({ tableName: 'books' })(Book);
Crud({ sortAllow: ['title'] })(Book);
async function open(app) {
  const engine = await engineLifespan(process.env.NO_SUCH_URL, { models: [Author, Book], createAll: true, cache: 'redis://127.0.0.1:1' })(app);
  console.log('Ready');
  await bootstrap(app, { routePrefix: '/v1', ${options} });
  return engine;
}
async function createApp() {
  const app = express();
  await open(app);
  return app;
}
async function main() {
  const server = await serve(express(), { port: 0, lifespan: open });
  throw new Error(\`Listens on \${server.address().port}\`);
}
${end}`;

const STARTING = [
  ['a module that serves', 'serves.cjs', startingWith('')],
  [
    'a module that serves, and exports its models',
    'open.cjs',
    startingWith('', 'exports.models = [Book]; void main();'),
  ],
  [
    'a module that listens',
    'listens.cjs',
    startingWith('', 'createApp().then(async (app) => { await Author.count(); app.listen(80); });'),
  ],
  ['an exported createApp', 'creates.cjs', startingWith('', 'module.exports = { createApp, Author };')],
  ['a default export', 'default.cjs', startingWith('', 'module.exports = createApp;')],
  ['a promise of an application', 'promised.cjs', startingWith('', 'exports.app = createApp();')],
  [
    'an ES module that awaits',
    'awaits.mjs',
    "import { createApp } from './creates.cjs';\nconst app = await createApp();\nawait new Promise(() => setInterval(() => {}, 1e6));",
  ],
] as const;

describe('the command line', () => {
  // Inside the repository, so that the package finds itself by its name.
  const folder = join(PACKAGE_ROOT, 'dist', `command-line-${process.pid}`);

  before(() => {
    mkdirSync(folder, { recursive: true });
    write('models.cjs', MODELS);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('prints the routes of the models that a module exports, without a database', async () => {
    expect(await command('routes', 'models.cjs')).to.deep.equal({
      code: 0,
      everything: ROUTES,
    });
  });

  it('prints what the guide shows', async () => {
    const crud =
      "Crud({ endpoints: ['list', 'create', 'read'], pageSize: { default: 50, max: 200 }, filterAllow: ['title'], sortAllow: ['id', 'title'] })(Article)";
    mkdirSync(join(folder, 'dist'), { recursive: true });
    write(
      'dist/models.js',
      MODELS.replace(/Crud\(.*\)\(Article\)/, crud).replace(
        '[Article, Author], ArticleController',
        '[Article]',
      ),
    );
    const [block = ''] = readmeBlocks('printed by the command line', 'docs/openapi.md');
    const [routes, openapi] = consoleExamples(block);
    const [, , ...args] = String(routes?.command).split(' ');
    expect((await command(...args)).everything.trim()).to.equal(routes?.output);
    expect(openapi?.command).to.equal('npx crud-controllers openapi ./dist/models.js > openapi.json');
  });

  it('reads models whose relation goes through one without @Crud', async () => {
    const joined = `
      require('reflect-metadata');
      const { Crud } = require('crud-controllers');
      const { BelongsToMany, Column, DataType, ForeignKey, Model, Table } = require('sequelize-typescript');
      class Base extends Model {}
      class Person extends Base {}
      class Club extends Base {}
      class Member extends Base {}
      for (const [Type, name, key] of [[Person, 'people', 'personId'], [Club, 'clubs', 'clubId']]) {
        ForeignKey(() => Type)(Member.prototype, key);
        Column(DataType.INTEGER)(Member.prototype, key);
        BelongsToMany(() => (Type === Club ? Person : Club), () => Member)(Type.prototype, 'others');
        Table({ tableName: name })(Type);
        Crud({ endpoints: ['list'] })(Type);
      }
      Table({ tableName: 'members' })(Member);
      module.exports = { Base, Person, Club, Member };`;
    write('joined.cjs', joined);
    const { code, everything } = await command('routes', 'joined.cjs');
    expect(code, everything).to.equal(0);
    expect(everything)
      .to.match(/GET \S* *\/people/)
      .and.to.not.include('/members');
  });

  it('prints the document of the models that a module exports', async () => {
    const { code, everything } = await command('openapi', 'models.cjs');
    expect(code).to.equal(0);
    const document = JSON.parse(everything);
    expect(document.openapi).to.equal('3.1.0');
    expect(Object.keys(document.paths).join(' ')).to.equal(
      '/articles /articles/{id}/comments /authors /authors/{id} /health/ready /health/live',
    );
  });

  it('[K10] prints SQL for migrations: tables of ours, and the indexes that the models lack', async () => {
    expect(await command('sql', 'models.cjs')).to.deep.equal({
      code: 0,
      everything: `-- For the option idempotency of bootstrap.
CREATE TABLE IF NOT EXISTS "crud_idempotency" (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  status smallint,
  location text,
  etag text,
  answer text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT crud_idempotency_pkey PRIMARY KEY (scope, key)
);
CREATE INDEX IF NOT EXISTS crud_idempotency_created_at ON "crud_idempotency" (created_at);
-- Article: no index serves the order 'title' (sortAllow)
CREATE INDEX ON "articles" ("title", "id");
-- Article: no index serves a filter by 'views' (filterAllow)
CREATE INDEX ON "articles" ("views", "id");
`,
    });
  });

  it('prints what the guide on writes shows', async () => {
    const [block = ''] = readmeBlocks('printed by the command line', 'docs/writes.md');
    const [sql] = consoleExamples(block);
    const [, , ...args] = String(sql?.command).split(' ');
    mkdirSync(join(folder, 'dist'), { recursive: true });
    write('dist/main.js', MODELS.replace(/Crud\(.*\)\(Article\)/, 'Crud()(Article)'));
    expect((await command(...args)).everything.trim()).to.equal(sql?.output);
  });

  itWhole('takes the prefix and the title of an API whose models a module exports', async () => {
    const { everything } = await command('openapi', 'models.cjs', '--route-prefix', '/api', '--title=Press');
    const { info, paths } = JSON.parse(everything);
    expect(info.title).to.equal('Press');
    expect(Object.keys(paths)).to.include.members(['/api/articles', '/api/authors/{id}', '/health/ready']);
    const routes = await command('routes', '--route-prefix=/v1', 'models.cjs');
    expect(routes.everything).to.include('GET     /v1/authors ');
    const wrong = await command('routes', 'models.cjs', '--route-prefix', 'api');
    expect(wrong).to.deep.equal(said('routePrefix "api" is not a plain path; use one such as \'/api\'.\n'));
  });

  it('refuses options where they mean nothing', async () => {
    write('told.mjs', APPLICATION);
    expect(await command('openapi', 'told.mjs', '--title', 'Mine')).to.deep.equal(
      said(
        'told.mjs exports an application, which says its routePrefix and title in bootstrap; leave out --route-prefix and --title.\n',
      ),
    );
    const VALUE = '--title needs a value: --title=<value>.';
    for (const [args, problem] of [
      [['sql', 'models.cjs', '--title', 'Mine'], 'sql has no option --title.'],
      [['openapi', 'models.cjs', '--titel', 'Mine'], "openapi has no option --titel. Did you mean 'title'?"],
      [['openapi', '-t', 'models.cjs'], 'openapi has no option -t.'],
      [['openapi', 'models.cjs', '--title'], VALUE],
      [['openapi', 'models.cjs', '--title='], VALUE],
      [['openapi', 'models.cjs', '--title', '--route-prefix=/api'], VALUE],
    ] as const) {
      const { code, everything } = await command(...args);
      expect(code, everything).to.equal(2);
      expect(everything.split('\n')[0]).to.equal(problem);
    }
  });

  it('finds a module whose ending is left out', async () => {
    write('short.js', "module.exports = { ...require('./models.cjs') };");
    expect((await command('routes', 'short')).everything).to.include('GET     /authors ');
  });

  it('prints the document of an application that a module exports and bootstraps', async () => {
    write('app.mjs', APPLICATION);
    const { code, everything } = await command('openapi', 'app.mjs');
    expect(code, everything).to.equal(0);
    const { info, paths } = JSON.parse(everything);
    expect(info).to.deep.include({ title: 'Press', version: '2.0.0' });
    expect(Object.keys(paths).join(' ')).to.equal(
      '/api/articles /api/articles/{id}/comments /api/authors /api/authors/{id}',
    );
  });

  it('prints the document of what bootstrap gave, or will give', async () => {
    const pending = APPLICATION.replace('export const app', 'const app');
    write('promise.mjs', pending.replace('await boot', 'export const api = boot'));
    const { everything } = await command('openapi', 'promise.mjs');
    expect(JSON.parse(everything).info.title).to.equal('Press');
  });

  // In short each third one: a module that serves, one that exports createApp, and an ES module.
  for (const [what, name, program] of STARTING.filter((_, index) => index % wholeOr(3, 1) === 0)) {
    it(`takes the application of ${what}, without a database`, async () => {
      write(name, program);
      const routes = await command('routes', name);
      expect(routes.everything).to.match(/^GET +\/v1\/authors\/:id +read/m);
      expect(routes.code).to.equal(0);
    });
  }

  it('prints the SQL of an application with its scope and options, and nothing that it logs', async () => {
    const options = 'idempotency: { principal: () => null }, scope: { tenant: () => 1 }, logger: console';
    write('scoped.cjs', startingWith(options));
    const args = [COMMAND, 'sql', 'scoped.cjs'];
    const { code, output, everything } = await tryRun(process.execPath, args, folder);
    expect(code, everything).to.equal(0);
    expect(output).to.match(
      /^-- For the option idempotency of bootstrap.\nCREATE TABLE .*"crud_idempotency"/,
    );
    expect(output).to.include('CREATE INDEX ON "books" ("tenant", "title", "id");').and.not.include('Ready');
    write('plain.cjs', startingWith('scope: { tenant: () => 1 }'));
    expect((await command('sql', 'plain.cjs')).everything).to.not.include('idempotency');
  });

  it('takes models that are exported by name and in a list, and refuses two of one name', async () => {
    write('both.cjs', MODELS.replace('module.exports = {', 'module.exports = { Article, Author,'));
    expect(await command('routes', 'both.cjs')).to.deep.equal({ code: 0, everything: ROUTES });
    write(
      'namesakes.cjs',
      `${MODELS}
      const Other = { Article: class Article extends Model {} }.Article;
      Column(DataType.STRING)(Other.prototype, 'title');
      Table({ tableName: 'others' })(Other);
      Crud()(Other);
      module.exports.models.push(Other);`,
    );
    const { code, everything } = await command('routes', 'namesakes.cjs');
    expect(code).to.equal(1);
    expect(everything).to.match(
      /^Two models are called Article, both on '\/articles': that of .+:10:1 and that of .+:25:7; give one of the classes another name\.\n$/,
    );
  });

  it('refuses several applications, a query before bootstrap, and a function that needs arguments', async () => {
    write(
      'several.cjs',
      `${startingWith('')}\nconst other = express();\nvoid bootstrap(other, { models: [] });`,
    );
    expect(await command('routes', 'several.cjs')).to.deep.equal(
      said('Ready\nseveral.cjs starts 2 applications; export the Express application that is meant.\n'),
    );
    const early = startingWith('').replace("console.log('Ready')", 'await Book.count()');
    write('early.cjs', early);
    // Its options would be missing from the routes of its models.
    write('exporting.cjs', `${early}\nexports.Book = Book;`);
    for (const file of ['early.cjs', 'exporting.cjs']) {
      expect(await command('routes', file)).to.deep.equal(
        said(
          `${file} calls engineLifespan, and no bootstrap follows; a query before bootstrap waits for a database here: move it behind, or pass a module that exports the models and starts nothing.\n`,
        ),
      );
    }
    write('needs.cjs', 'exports.createApp = function createApp(url) {};');
    expect(await command('routes', 'needs.cjs')).to.deep.equal(
      said(
        'createApp of needs.cjs has parameters, and the command passes none; pass the module that calls it, or give them defaults.\n',
      ),
    );
  });

  itWhole('waits for an application that waits for something itself', async () => {
    write(
      'later.mjs',
      APPLICATION.replace('await boot', 'setTimeout(() => {}, 1e8);\nsetImmediate(() => boot').replace(
        /\);\s*$/,
        '));',
      ),
    );
    const { everything } = await command('routes', 'later.mjs');
    expect(everything).to.include('/api/authors/:id');
  });

  itWhole('says what a module should export', async () => {
    write('nothing.cjs', 'module.exports = { answer: 42, nothing: null };');
    expect(await command('routes', 'nothing.cjs')).to.deep.equal(
      said(
        'nothing.cjs exports nothing to describe, and starts nothing; pass the module that starts the application, or export that, a function createApp, or the models with @Crud.\n',
      ),
    );
    mkdirSync(join(folder, 'other/crud-controllers/dist/src'), { recursive: true });
    write('other/crud-controllers/dist/src/index.js', '');
    write('other.cjs', "require('./other/crud-controllers/dist/src/index.js');");
    const { everything } = await command('routes', 'other.cjs');
    expect(everything).to.match(
      /^other\.cjs is made with another copy of crud-controllers, .*; run npx crud-controllers in the folder of the project\.\n$/,
    );
    expect(await command('routes', 'nowhere.js')).to.deep.equal(said("There is no module 'nowhere.js'.\n"));
    write('models.ts', '@Crud() export class Model {}');
    const advice =
      "'models.ts' is TypeScript; compile it and pass what comes out, such as ./dist/models.js.\n";
    expect(await command('routes', 'models.ts')).to.deep.equal(said(advice));
  });

  it('says everything that is wrong with the models', async () => {
    write('wrong.cjs', MODELS.replace("filterAllow: ['title', 'views']", "filterAllow: ['titel', 'view']"));
    const { code, everything } = await command('openapi', 'wrong.cjs');
    expect(code).to.equal(1);
    expect(everything.split('\n').map((line) => line.slice(0, 57))).to.deep.equal([
      "Article: filterAllow names 'titel', which is not an attri",
      "Article: filterAllow names 'view', which is not an attrib",
      '',
    ]);
  });

  it('shows the error of a module that throws', async () => {
    write('throwing.cjs', "throw new Error('not today');");
    const { code, everything } = await command('routes', 'throwing.cjs');
    expect(code).to.equal(1);
    expect(everything).to.match(/^Error: not today\n +at .*throwing\.cjs/);
  });

  it('says how it is used', async () => {
    const help = await command('--help');
    expect(help.code).to.equal(0);
    expect(help.everything).to.match(/^Usage: crud-controllers <command> \[options\]\n/);
    expect(await command('init', '--help')).to.deep.equal(help);
    for (const [args, problem] of [
      [[], ''],
      [['rotes', 'models.cjs'], "There is no command 'rotes'. Did you mean 'routes'?\n"],
      [['routes'], 'Name one module.\n'],
    ] as const)
      expect(await command(...args)).to.deep.equal(said(`${problem}${help.everything}`, 2));
  });

  /** Output of a command that fails. */
  function said(everything: string, code = 1) {
    return { code, everything };
  }

  function write(name: string, content: string): void {
    writeFileSync(join(folder, name), content);
  }

  async function command(...args: string[]): Promise<{ code: number; everything: string }> {
    const { code, everything } = await tryRun(process.execPath, [COMMAND, ...args], folder);
    return { code, everything };
  }
});

const MODELS = `
require('reflect-metadata');
const { Crud, crudController } = require('crud-controllers');
const { Get } = require('routing-controllers');
const { Column, DataType, HasMany, Model, Table } = require('sequelize-typescript');
class Article extends Model {}
Column(DataType.STRING)(Article.prototype, 'title');
Column(DataType.INTEGER)(Article.prototype, 'views');
Table({ tableName: 'articles', timestamps: false })(Article);
Crud({ endpoints: ['list', 'create'], pagination: 'cursor', pageSize: { default: 5 }, filterAllow: ['title', 'views'], sortAllow: ['title'] })(Article);
class Author extends Model {}
Column(DataType.STRING)(Author.prototype, 'name');
HasMany(() => Article, { foreignKey: 'id', constraints: false })(Author.prototype, 'articles');
Table({ tableName: 'authors', timestamps: false })(Author);
Crud({ endpoints: ['list', 'read'], filterAllow: { articles: ['title'] } })(Author);
class ArticleController extends crudController(Article) {
  talk() { return []; }
}
Get('/:id/comments')(ArticleController.prototype, 'talk');
module.exports = { models: [Article, Author], ArticleController, VERSION: 1 };
`;

/** The table of those. */
const ROUTES = `METHOD  PATH                    OPERATION     PAGINATION     FILTERABLE   SORTABLE  GENERAL PATH
GET     /articles/:id/comments  Article.talk  -              -            -         the route is hand-written
GET     /articles               list          cursor 5/100   title,views  title     -
POST    /articles               create        -              -            -         -
GET     /authors                list          offset 20/100  articles     id        -
GET     /authors/:id            read          -              -            -         -
`;

const APPLICATION = `
import 'reflect-metadata';
import { bootstrap } from 'crud-controllers';
import express from 'express';
import { Sequelize } from 'sequelize-typescript';
import described from './models.cjs';
new Sequelize('postgres://nobody@127.0.0.1:1/none', { logging: false }).addModels(described.models);
export const app = express();
const { models, ArticleController } = described;
const docs = { title: 'Press', version: '2.0.0' };
await bootstrap(app, { models, controllers: [ArticleController], routePrefix: '/api', health: false, docs });
`;
