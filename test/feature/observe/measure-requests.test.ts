/** The metrics of requests, statements and connections. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import express from 'express';
import { Column, DataType, Table } from 'sequelize-typescript';
import { type BootstrapOptions, bootstrap, Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { configError } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { PACKAGE_ROOT } from '../../support/package-root.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

@Crud({ filterAllow: ['name'] })
@Table({ tableName: 'rings', timestamps: false })
class Ring extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false, unique: true }) declare name: string;
}

@Crud()
@Table({ tableName: 'discs', timestamps: false })
class Disc extends NumberedRow {}

/** The samples of a text of Prometheus, by name and labels. */
function samplesOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

describe('Measuring requests', () => {
  const app = serveTestApp(() => ({ models: [Ring], bootstrap: { routePrefix: '/api', metrics: true } }));

  beforeEach(() => emptyTables(app, 'rings'));

  const read = async () => {
    const { text, headers } = await app.agent.get('/metrics').expect(200);
    expect(headers['content-type']).to.match(/^text\/plain; version=0\.0\.4/);
    return samplesOf(text);
  };
  /** Growth of the samples whose line begins with a text and contains others. */
  const growth = async (work: () => Promise<unknown>, start: string, ...parts: readonly string[]) => {
    const sum = (samples: ReadonlyMap<string, number>) =>
      [...samples]
        .filter(([name]) => name.startsWith(start) && parts.every((part) => name.includes(part)))
        .reduce((total, [, value]) => total + value, 0);
    const before = sum(await read());
    await work();
    return sum(await read()) - before;
  };
  const REQUESTS = 'http_server_request_duration_seconds_count';

  it('counts requests by route, status, resource and operation', async () => {
    const http =
      'http_request_method="GET" http_route="/api/rings/:id" http_response_status_code="404"'.split(' ');
    const resource = ['crud_resource="Ring"', 'crud_operation="read"'];
    const requests = async () => {
      for (const id of [1, 2, 3]) await app.agent.get(`/api/rings/${id}`).expect(404);
    };
    expect(await growth(requests, REQUESTS, ...http, ...resource)).to.equal(3);
  });

  it('gives what matches no route one label, whatever its path', async () => {
    const lines = async () => [...(await read()).keys()].filter((line) => line.startsWith(REQUESTS));
    for (const path of ['/a', '/b/c', '/api/nothing/1']) await app.agent.get(path).expect(404);
    const known = await lines();
    for (const path of ['/g', '/h/i', '/j/k/l', '/api/never/1']) await app.agent.get(path).expect(404);
    expect(await lines()).to.deep.equal(known);
  });

  it('measures statements, and names what PostgreSQL refuses by its SQLSTATE', async () => {
    const create = async () => {
      await app.agent.post('/api/rings').send({ name: 'Cassini' }).expect(201);
      await app.agent.post('/api/rings').send({ name: 'Cassini' }).expect(409);
    };
    const STATEMENTS = 'db_client_operation_duration_seconds_count';
    const insert = 'db_query_summary="INSERT rings"';
    expect(await growth(create, STATEMENTS, insert, 'error_type=""')).to.equal(1);
    await emptyTables(app, 'rings');
    expect(await growth(create, STATEMENTS, insert, 'error_type="23505"')).to.equal(1);
  });

  it('shows connections that are in use, and what waits for one', async () => {
    const { sequelize } = app.engine;
    const held = await Promise.all(
      Array.from({ length: sequelize.config.pool?.max ?? 5 }, () => sequelize.transaction()),
    );
    const waiting = app.agent.post('/api/rings').send({ name: 'Encke' });
    const answered = waiting.then((answer) => answer);
    const pending = async () => {
      const { text } = await app.agent.get('/metrics');
      return [...samplesOf(text)]
        .filter(([line]) => line.startsWith('db_client_connection_pending_requests'))
        .reduce((total, [, value]) => total + value, 0);
    };
    while ((await pending()) === 0);
    for (const transaction of held) await transaction.rollback();
    expect((await answered).status).to.equal(201);
    expect(await pending()).to.equal(0);
  });

  it('leaves out the connections of an engine that has ended', async () => {
    const most = async () => {
      const samples = [...(await read())].filter(([line]) => line.startsWith('db_client_connection_max'));
      return samples.reduce((total, [, value]) => total + value, 0);
    };
    const before = await most();
    const other = await startTestApp({ models: [Disc], bootstrap: { metrics: true } });
    expect(await most()).to.be.above(before);
    await other[Symbol.asyncDispose]();
    expect(await most()).to.equal(before);
  });

  for (const page of ['docs/operations.md', 'docs/grafana-dashboard.json']) {
    it(`has each metric that ${page} names`, async () => {
      const text = readFileSync(join(PACKAGE_ROOT, page), 'utf8');
      const named = text.match(/\b(?:http_server|http_re|db|crud|nodejs|process)_[a-z0-9_]+/g) ?? [];
      await app.agent.post('/api/rings').send({ name: 'Encke' }).expect(201);
      const known = (await app.agent.get('/metrics')).text.match(/[a-z][a-z0-9_]+/g);
      expect(named.length).to.be.above(10);
      expect(known).to.include.members(named);
    });
  }

  it('holds no value of a request', async () => {
    await app.agent.post('/api/rings').send({ name: 'Maxwell' }).expect(201);
    await app.agent.get('/api/rings?q=name==Maxwell').expect(200);
    expect([...(await read()).keys()].join('\n')).not.to.include('Maxwell');
  });

  it('takes no other method than GET', async () => {
    const { headers } = await app.agent.post('/metrics').expect(405);
    expect(headers['allow']).to.include('GET');
  });

  const refusals: readonly [unknown, RegExp][] = [
    ['yes', /^metrics is "yes"; use true, false, or \{ path: '\/internal\/metrics' \}\.$/],
    [{ pth: '/m' }, /metrics.*pth/],
    [{ path: 'metrics' }, /The path of metrics/],
    [{ path: '/rings' }, /^Ring is on '\/rings', where the metrics are/],
  ];
  for (const [metrics, message] of refusals) {
    it(`refuses ${JSON.stringify(metrics)}`, async () => {
      const options = { models: [Ring], metrics } as BootstrapOptions;
      expect(await configError(() => bootstrap(express(), options))).to.match(message);
    });
  }
});
