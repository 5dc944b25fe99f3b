/** `crud-controllers init --from`: a project with the models of a database is built, passes its own tests, is served, and writes nothing. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import type { OpenAPIObject } from '../../src/index.js';
import { withSchema } from '../existing/databases.js';
import { forSuite } from '../support/for-suite.js';
import { connectTo, execute } from '../support/postgres.js';
import { itWhole } from '../support/short.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';
import { installCommand, installProject, startProject } from './project.js';
import { run } from './run.js';

/** Signs that end a part of an address, a value of a file, or a word of a shell. */
const PASSWORD = `p@ss/w%rd'"$HOME#\``;
const ROLE = `shop_keeper_${process.pid}`;
const ROWS = `
  INSERT INTO artist (name) VALUES ('AC/DC'), (NULL);
  INSERT INTO album (title, artist_id) VALUES ('Powerage', 1);
  INSERT INTO media_type (name) VALUES ('MPEG');
  INSERT INTO genre (name) VALUES ('Rock');
  INSERT INTO track (name, album_id, media_type_id, milliseconds, unit_price) VALUES ('Sin City', 1, 1, 285000, 0.99);
  INSERT INTO playlist (name) VALUES ('Late');
  INSERT INTO playlist_track VALUES (1, 1);
  INSERT INTO employee (last_name, first_name, hire_date) VALUES ('Adams', 'Ann', '2020-02-29 08:00:00.123456');
  INSERT INTO customer (first_name, last_name, email, support_rep_id) VALUES ('Bo', 'Berg', 'bo@example.org', 1);
  INSERT INTO invoice (customer_id, invoice_date, total) VALUES (1, '2025-01-31', 0.99);
  INSERT INTO invoice_line (invoice_id, track_id, unit_price, quantity) VALUES (1, 1, 0.99, 1)`;

describe('a project from a database', function () {
  this.timeout(180_000);
  const folder = forSuite(() => createTemporaryFolder('init-from'));
  const database = forSuite(() => withSchema('chinook'));
  // A role that may write, so that nothing but the project keeps requests from it.
  forSuite(async () => {
    await execute(
      database.url,
      `CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD.replaceAll("'", "''")}'; GRANT ALL ON ALL TABLES IN SCHEMA public TO ${ROLE}`,
    );
    return {
      [Symbol.asyncDispose]: async () =>
        void (await execute(database.url, `DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`)),
    };
  });
  let command: string;
  let project: string;
  let printed: string;

  before(async () => {
    command = await installCommand(folder.path);
    await execute(database.url, ROWS);
    const url = new URL(database.url);
    url.username = ROLE;
    const address = url.href.replace(/:[^:@]*@/, `:${encodeURIComponent(PASSWORD)}@`);
    project = join(folder.path, 'shop-api');
    ({ everything: printed } = await run(
      process.execPath,
      [command, 'init', 'shop-api', '--from', address],
      folder.path,
    ));
    await installProject(project, JSON.parse(read('package.json')));
  });

  it('has the address of the database in .env alone, for its owner alone', () => {
    const files = filesOf(project);
    expect(files).to.include.members(['.env', 'README.md', 'src/access.ts', 'src/models/playlist-track.ts']);
    expect(files.filter((file) => /compose|migrat|note/.test(file))).to.deep.equal([]);
    expect(statSync(join(project, '.env')).mode & 0o777).to.equal(0o600);
    for (const file of ['.gitignore', '.dockerignore']) expect(read(file).split('\n')).to.include('.env');
    const { password, host } = new URL(database.url);
    const secrets = [PASSWORD, encodeURIComponent(PASSWORD), ROLE, host, ...(password ? [password] : [])];
    for (const text of [printed, ...files.filter((file) => file !== '.env').map(read)])
      expect(secrets.filter((secret) => text.includes(secret))).to.deep.equal([]);
    expect(files.filter((file) => read(file).includes('{{'))).to.deep.equal([]);
  });

  it('builds, and its own tests list and read each resource', async () => {
    const { output } = await run('npm', ['test'], project);
    expect(output)
      .to.match(/^. pass 11$/m)
      .and.match(/^. fail 0$/m);
    expect(output).to.match(/PlaylistTrack/);
  });

  it('is served, warns of nothing, and has a document without a method that writes', async () => {
    await using served = await startProject(project);
    expect(await (await fetch(`${served.url}/playlist-tracks/1,1`)).json()).to.deep.equal({
      playlistId: 1,
      trackId: 1,
    });
    const { paths } = await documentOf(served.url);
    const methods = Object.entries(paths).flatMap(([path, item]) =>
      path.startsWith('/health') ? [] : Object.keys(item),
    );
    expect(new Set(methods)).to.deep.equal(new Set(['get']));
    expect(await writeEverywhere(served.url, Object.keys(paths))).to.deep.equal(new Set([405]));
    expect(served.printed()).to.not.match(/"level":"(?:warn|error)"/);
  });

  it('writes the models again by its script: no byte changes, and a new table has a file', async () => {
    const before = filesOf(project).map(read);
    await run('npm', ['run', '--silent', 'models'], project);
    expect(filesOf(project).map(read)).to.deep.equal(before);
    await execute(database.url, `CREATE TABLE label (id int PRIMARY KEY); GRANT ALL ON label TO ${ROLE}`);
    await run('npm', ['run', '--silent', 'models', '--', '--writable'], project);
    const changed = filesOf(project).filter((file) => !before.includes(read(file)));
    expect(changed).to.deep.equal(['src/models/index.ts', 'src/models/label.ts']);
  });

  it('writes nothing where its models are writable, as long as access.ts has no rule for it', async () => {
    for (const file of filesOf(project).filter((each) => each.startsWith('src/models/')))
      writeFileSync(join(project, file), read(file).replace(/\breadOnly: true,?/, ''));
    await run('npm', ['run', 'build'], project);
    await using served = await startProject(project);
    const { paths } = await documentOf(served.url);
    for (const path of ['/artists', '/labels'])
      expect(Object.keys(paths[path] ?? {})).to.deep.equal(['get', 'post']);
    expect(await writeEverywhere(served.url, Object.keys(paths))).to.deep.equal(new Set([403, 405]));
  });

  itWhole('has 88 tables and views', async () => {
    await using large = await withSchema('adventureworks');
    await run(process.execPath, [command, 'init', 'works-api', '--from'], folder.path, {
      DATABASE_URL: large.url,
    });
    project = join(folder.path, 'works-api');
    await installProject(project, JSON.parse(read('package.json')));
    const { output } = await run('npm', ['test'], project);
    expect(output).to.match(/^. fail 0$/m);
    await using served = await startProject(project);
    const { paths } = await documentOf(served.url);
    expect(await writeEverywhere(served.url, Object.keys(paths))).to.deep.equal(new Set([405]));
  });

  function read(file: string): string {
    return readFileSync(join(project, file), 'utf8');
  }

  async function documentOf(url: string): Promise<OpenAPIObject> {
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenAPIObject;
    expect(await new Validator().validate({ ...document })).to.deep.equal({
      valid: true,
    });
    return document;
  }

  /** Sends each method that writes to each path. @returns the statuses */
  async function writeEverywhere(url: string, paths: readonly string[]): Promise<Set<number>> {
    const rows = await contents();
    const statuses = new Set<number>();
    for (const path of paths) {
      const { items = [{}] } = (await (await fetch(`${url}${path.replace(/\/\{.*/, '')}`)).json()) as {
        items?: object[];
      };
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const place = path.replace(/\{\w+\}/, path.startsWith('/playlist-tracks') ? '1,1' : '1');
        const response = await fetch(`${url}${place}`, {
          method,
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(items[0]),
        });
        await response.arrayBuffer();
        statuses.add(response.status);
      }
    }
    expect(await contents()).to.deep.equal(rows);
    return statuses;
  }

  /** All rows of the database, as texts. */
  async function contents(): Promise<unknown[]> {
    await using client = await connectTo(database.url);
    const { rows } = await client.query(
      "SELECT relname, query_to_xml(format('SELECT * FROM %I.%I ORDER BY 1', nspname, relname), true, true, '')::text FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' AND nspname = 'public' ORDER BY 1",
    );
    return rows;
  }
});

/** Files of a project that its author commits, or not, by their paths. */
function filesOf(project: string): string[] {
  return readdirSync(project, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(project, join(entry.parentPath, entry.name)))
    .filter((file) => !/^(?:dist|node_modules)\//.test(file))
    .sort();
}
