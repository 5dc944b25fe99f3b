/** Nested writes with other features: a key that repeats them, the history of each row, and the document. */
import { expect } from 'chai';
import type { Request } from 'express';
import { Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue } from '../../support/expect-answer.js';
import { describeNested } from '../../support/nested-orders.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'updateMany', 'upsert'],
  upsert: [['name']],
  filterAllow: ['name'],
  nested: { legs: { max: 5 } },
  history: true,
})
@Table({ tableName: 'trips', timestamps: false, version: true })
class Trip extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare name: string;
  @HasMany(() => Leg) declare legs: Leg[];
}

@Crud({
  history: true,
  fields: { town: { read: (request: Request) => request.get('Towns') !== 'hidden' } },
})
@Table({ tableName: 'legs', timestamps: false, indexes: [{ fields: ['tripId'] }] })
class Leg extends NumberedRow {
  @ForeignKey(() => Trip)
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare tripId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare town: string;
}

describeNested('nested writes with other features', () => {
  const site = serveTestApp(() => ({
    models: [Trip, Leg] as unknown as ModelClass[],
    bootstrap: { indexAdvice: false, idempotency: { principal: () => 'ann' } },
  }));
  const query = async <T extends object>(text: string): Promise<readonly T[]> => {
    const [rows] = await site.engine.sequelize.query(text);
    return rows as T[];
  };
  const body = { name: 'North', legs: [{ town: 'Oslo' }, { town: 'Bodø' }] };

  beforeEach(() => emptyTables(site, 'legs', 'trips', 'crud_idempotency', 'crud_changes'));

  it('happen once under a key, and are answered with the same bytes', async () => {
    const send = () => site.agent.post('/trips').set('Idempotency-Key', 'k1').send(body);
    const [first, again] = [await send(), await send()];
    expect(first.status).to.equal(201);
    expect(again.headers['idempotent-replayed']).to.equal('true');
    expect(again.text).to.equal(first.text);
    expect(first.body.legs.items).to.have.lengthOf(2);
    expect(await query('SELECT id FROM legs')).to.have.lengthOf(2);
    const change = () =>
      site.agent
        .patch('/trips/1')
        .set('Idempotency-Key', 'k2')
        .send({ legs: { create: [{ town: 'Rome' }], delete: [1] } });
    const [changed, repeated] = [await change(), await change()];
    expect(changed.status).to.equal(200);
    expect(repeated.text).to.equal(changed.text);
    expect(await query('SELECT id FROM legs ORDER BY id')).to.deep.equal([{ id: 2 }, { id: 3 }]);
  });

  it('are not answered again under a key with attributes that the request may read no more', async () => {
    const send = (towns: string) =>
      site.agent.post('/trips').set({ 'Idempotency-Key': 'k3', towns }).send(body);
    const first = await send('shown');
    expect(first.text).to.include('Oslo');
    const other = await send('hidden');
    expect(other.status, other.text).to.equal(409);
    expect(other.body.detail).to.include('its answer cannot be repeated');
    expect((await send('shown')).text).to.equal(first.text);
    expect(await query('SELECT id FROM legs')).to.have.lengthOf(2);
  });

  it('have one event a row, and one context for all', async () => {
    await site.agent.post('/trips').send(body);
    const answer = await site.agent
      .patch('/trips/1')
      .send({ legs: { update: [{ id: 1, town: 'Pisa' }], delete: [2], create: [{ town: 'Rome' }] } });
    expect(answer.status, answer.text).to.equal(200);
    const events = await query<{ event: string; context: object }>(
      `SELECT concat_ws(' ', source, op) AS event, context FROM crud_changes ORDER BY id`,
    );
    expect(events.map(({ event }) => event)).to.deep.equal([
      'trips i',
      'legs i',
      'legs i',
      'trips u',
      'legs d',
      'legs u',
      'legs i',
    ]);
    for (const [index, { context }] of events.entries()) {
      expect(context).to.deep.equal(events[index < 3 ? 0 : 3]?.context);
      expect(context).to.include({ operation: index < 3 ? 'Trip.create' : 'Trip.update' });
    }
  });

  it('are described', async () => {
    const { body: document } = await site.agent.get('/openapi.json');
    const { TripCreate, TripUpdate, TripWritten, TripRead } = document.components.schemas;
    expect(TripCreate.properties.legs).to.include({ type: 'array', maxItems: 5 });
    expect(TripCreate.properties.legs.items.properties).to.have.all.keys('town');
    expect(TripCreate.properties.legs.items.required).to.deep.equal(['town']);
    expect(Object.keys(TripUpdate.properties.legs.properties)).to.deep.equal(['create', 'update', 'delete']);
    expect(TripWritten.properties.legs.properties).to.have.all.keys('items', 'has_next');
    expect(TripRead.properties).to.not.have.property('legs');
  });

  it('are not described where a request takes none', async () => {
    const { body: document } = await site.agent.get('/openapi.json');
    const { post, patch } = document.paths['/trips'];
    const schemaOf = ({ requestBody }: typeof post) => requestBody.content['application/json'].schema.oneOf;
    const [one, many] = schemaOf(post);
    expect(one).to.deep.equal({ $ref: '#/components/schemas/TripCreate' });
    expect(many.items.properties).to.have.all.keys('name');
    expect(post.description).to.include('With `on_conflict`').and.to.include('It takes no `legs`.');
    const upsert = await site.agent.post('/trips?on_conflict=name').send([{ name: 'a', legs: [] }]);
    expect(upsert.body.errors[0]).to.include({ pointer: '/0/legs', code: 'unknownProperty' });
    const [items, each] = schemaOf(patch);
    expect(items.items).to.deep.equal({ $ref: '#/components/schemas/TripChange' });
    expect(each.properties).to.have.all.keys('name');
    const byFilter = await site.agent.patch('/trips?q=name==a').send({ legs: {} });
    expect(byFilter.body.errors[0]).to.include({ pointer: '/legs', code: 'unknownProperty' });
  });

  it('are named where a request misspells them', async () => {
    const detail = "There is no such property. Did you mean 'legs'? The properties are name, legs.";
    const created = await site.agent.post('/trips').send({ name: 'a', leg: [] });
    expectIssue(created, 422, { pointer: '/leg', code: 'unknownProperty', detail });
    const changed = await site.agent.patch('/trips').send([{ id: 1, leg: {} }]);
    expect(changed.body.errors[0]).to.include({ pointer: '/0/leg', detail });
    const both = await site.agent.post('/trips').send({ name: 'a', legs: [], Legs: [] });
    expectIssue(both, 422, { pointer: '/Legs', code: 'unknownProperty', detail });
  });
});
