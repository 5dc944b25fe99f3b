/** The page and the document, and the metrics, beside resources whose routes could take their paths. */
// @runs fast
import { expect } from 'chai';
import express from 'express';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { type BootstrapOptions, Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { configProblems } from '../../support/config-error.js';
import { exchange, listen, requestHead } from '../../support/listen.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ prefix: '/' })
@Table({ tableName: 'roots', timestamps: false })
class Root extends NumberedRow {}

@Crud({ prefix: '/', endpoints: ['list', 'update'] })
@Table({ tableName: 'stems', timestamps: false })
class Stem extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
}

@Crud({ prefix: '/', endpoints: ['list', 'create'] })
@Table({ tableName: 'twigs', timestamps: false })
class Twig extends NumberedRow {}

@Crud({ prefix: '/leaves' })
@Table({ tableName: 'leaves', timestamps: false })
class Leaf extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare id: string;
}

describe('the page of the document, beside resources', () => {
  serveTestApp(() => ({ models: [Root, Stem, Twig, Leaf], bootstrap: { models: [Leaf] } }));

  const problems = (options: BootstrapOptions) => configProblems(() => buildApp(options));
  const told = (name: string, path: string, route: string) =>
    `${name} answers '${path}', where the documentation is, by its route '${route}'; give ${name} another prefix, or the documentation another path, such as docs: { path: '/internal/docs' }.`;

  it('is not hidden behind the route of a record, whatever ids are', async () => {
    expect(await problems({ models: [Root] })).to.deep.equal([told('Root', '/docs', '/:id')]);
    const docs = { path: '/leaves/docs' };
    expect(await problems({ models: [Leaf], docs })).to.deep.equal([told('Leaf', docs.path, '/leaves/:id')]);
    const below = { routePrefix: '/api', docs: { path: '/Api/docs' } };
    expect(await problems({ models: [Root], ...below })).to.deep.equal([
      told('Root', '/Api/docs', '/api/:id'),
    ]);
  });

  it('is not hidden behind a route of another method, which answers 405', async () => {
    expect(await problems({ models: [Stem] })).to.deep.equal([told('Stem', '/docs', '/:id')]);
  });

  it('is beside resources that leave its path', async () => {
    const places: readonly (readonly [options: BootstrapOptions, path: string])[] = [
      [{ models: [Twig] }, '/docs'],
      [{ models: [Root], docs: { path: '/internal/docs' } }, '/internal/docs'],
      [{ models: [Root], routePrefix: '/api' }, '/docs'],
    ];
    for (const [options, path] of places) {
      const { agent } = await buildApp(options);
      await agent.get(path).expect(200);
    }
  });

  it('hides no record behind the metrics', async () => {
    const metrics = { path: '/leaves/metrics' };
    expect(await problems({ models: [Leaf], metrics })).to.deep.equal([
      "Leaf may have a record with the id 'metrics' at '/leaves/metrics', where the metrics are; give one of them another path, such as metrics: { path: '/internal/metrics' }.",
    ]);
    // No number is this text.
    const { agent } = await buildApp({ models: [Root], docs: false, metrics: true });
    await agent.get('/metrics').expect(200);
  });

  it('has addresses of its own alone, whatever a client writes behind its path', async () => {
    const { app } = await buildApp({ models: [] });
    await using server = await listen(app);
    const head = requestHead('GET /docs#x/"><script>', { Connection: 'close' });
    const { status, body } = await exchange(server, head);
    expect(status).to.equal(200);
    expect(body).to.include('href="docs/page.css"').and.not.include('"><script>');
  });

  it('escapes the name of its folder', async () => {
    const { app } = await buildApp({ models: [], docs: { path: '/' } });
    await using server = await listen(express().use('/:place', app));
    const { status, body } = await exchange(server, requestHead('GET /a"b', { Connection: 'close' }));
    expect(status).to.equal(200);
    expect(body).to.include('href="a&#34;b/page.css"');
  });
});
