/** A proxy that takes off the beginning of paths, and has it in a header: addresses in answers begin with it, where the proxy is trusted. */
import { expect } from 'chai';
import express from 'express';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import { Crud } from '../../../src/index.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ endpoints: ['list', 'read', 'create', 'replace'] })
@Table({ tableName: 'barges', timestamps: false })
class Barge extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare id: string;
}

const PREFIX = 'X-Forwarded-Prefix';

describe('behind a proxy that takes off a prefix', () => {
  const site = serveTestApp(() => ({ models: [Barge], bootstrap: { landing: true } }));
  beforeEach(() => emptyTables(site, 'barges'));
  afterEach(() => site.app.set('trust proxy', false));

  /** The `Location` of a new record, in the answer to a request with this header. */
  async function placeOf(prefix: string): Promise<string | undefined> {
    await emptyTables(site, 'barges');
    const { headers } = await site.agent.post('/barges').set(PREFIX, prefix).send({ id: 'a b' }).expect(201);
    return headers['location'];
  }

  it('[U11] has its prefix in Location, the servers of the document and the links of the landing page', async () => {
    site.app.set('trust proxy', 'loopback');
    expect(await placeOf('/api')).to.equal('/api/barges/a%20b');
    const replaced = await site.agent.put('/barges/new').set(PREFIX, '/api/v1/').send({});
    expect([replaced.status, replaced.headers['location']]).to.deep.equal([201, '/api/v1/barges/new']);
    const { body } = await site.agent.get('/openapi.json').set(PREFIX, '/api');
    expect(body.servers).to.deep.equal([{ url: '/api', description: 'This server.' }]);
    const landing = await site.agent.get('/').set(PREFIX, '/api').set('Accept', 'application/json');
    expect(Object.values(landing.body.links)).to.include.members(['/api/docs', '/api/openapi.json']);
    const without = await site.agent.get('/openapi.json');
    expect(without.body.servers).to.deep.equal([{ url: '/', description: 'This server.' }]);
  });

  it('has it before the place where the application is mounted', async () => {
    site.app.set('trust proxy', true);
    const outer = express().use('/v1', site.app);
    const answer = await supertest(outer).post('/v1/barges').set(PREFIX, '/api').send({ id: 'c' });
    expect([answer.status, answer.headers['location']]).to.deep.equal([201, '/api/v1/barges/c']);
    const { body } = await supertest(outer).get('/v1/openapi.json').set(PREFIX, '/api');
    expect(body.servers[0].url).to.equal('/api/v1');
  });

  it('[U11] is not believed where trust proxy does not allow it', async () => {
    for (const setting of [false, '10.0.0.0/8', () => false]) {
      site.app.set('trust proxy', setting);
      expect(await placeOf('/api')).to.equal('/barges/a%20b');
    }
  });

  it('has no prefix that leads elsewhere', async () => {
    site.app.set('trust proxy', true);
    const odd =
      '//evil.example /api//v1 https://evil.example javascript:alert(1) api / /.. /api/../.. /./api';
    const bad = '/a%2f.. /a\\b /a?b /a#b /a:80 /@evil.example';
    const others = ['', '/a b', '/a, /b', `/${'a'.repeat(300)}`];
    for (const prefix of [...`${odd} ${bad}`.split(' '), ...others]) {
      expect(await placeOf(prefix), prefix).to.equal('/barges/a%20b');
    }
    expect(await placeOf('/...')).to.equal('/.../barges/a%20b');
  });
});
