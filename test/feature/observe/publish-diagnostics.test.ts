/** Messages of the diagnostics channels about requests and statements. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { expect } from 'chai';
import { Get, Param } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  crudController,
  type OperationMessage,
  type StatementMessage,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_MANY, onPath } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'createMany', 'updateMany'],
  filterAllow: ['name'],
})
@Table({ tableName: 'comets', timestamps: false })
class Comet extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false, unique: true }) declare name: string;
}

@Crud()
@Table({ tableName: 'probes', timestamps: false })
class Probe extends NumberedRow {}

class ProbeController extends crudController(Probe) {
  override async list(query: never, context: CrudContext): Promise<never> {
    await context.repository.list();
    return super.list(query, context) as never;
  }

  @Get('/far/:name')
  far(@Param('name') name: string) {
    return { name };
  }
}

/** A message as a subscriber received it. */
interface Told<M> {
  readonly event: string;
  readonly message: M;
}

/** Subscribes for as long as the test goes. */
function listen<M extends object>(name: string): Told<M>[] & Disposable {
  const told: Told<M>[] = [];
  const on = (event: string) => (message: unknown) => told.push({ event, message: message as M });
  const events = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];
  const handlers = Object.fromEntries(events.map((event) => [event, on(event)])) as never;
  const channel = tracingChannel(name);
  channel.subscribe(handlers);
  return Object.assign(told, { [Symbol.dispose]: () => void channel.unsubscribe(handlers) });
}

const listenToOperations = () => listen<OperationMessage>('crud-controllers:operation');
const listenToStatements = () => listen<StatementMessage>('crud-controllers:statement');

except(OF_MANY).describe('Publishing diagnostics', () => {
  const app = serveTestApp(() => {
    const bootstrap = { routePrefix: '/api', controllers: [ProbeController] };
    return { models: [Comet, Probe], bootstrap };
  });
  beforeEach(() => emptyTables(app, 'comets', 'probes'));

  it('names the resource, the operation and the route, with the same object from start to end', async () => {
    using told = listenToOperations();
    await app.agent.get('/api/comets/7?fields=name').expect(404);
    await app.agent.get('/api/comets').expect(200);
    const [first] = told;
    expect(told.map(({ event }) => event)).to.deep.equal(
      'start end error asyncStart asyncEnd start end asyncStart asyncEnd'.split(' '),
    );
    expect(told.slice(0, 5).every(({ message }) => message === first?.message)).to.equal(true);
    expect(first?.message).to.include({ resource: 'Comet', operation: 'read', route: '/api/comets/:id' });
    expect(first?.message.error).to.have.property('name', 'NotFoundError');
    expect(told[5]?.message).to.include({ resource: 'Comet', operation: 'list', route: '/api/comets' });
  });

  it('tells one record from many at the same path', async () => {
    using told = listenToOperations();
    await app.agent.post('/api/comets').send({ name: 'Halley' }).expect(201);
    const many = [{ name: 'Encke' }];
    await app.agent.post('/api/comets').send(many).expect(201);
    const ends = told.filter(({ event }) => event === 'asyncEnd');
    expect(ends.map(({ message }) => message.operation)).to.deep.equal(['create', 'createMany']);
  });

  it('names what is no method of that name: a delete, and a path for many records alone', async () => {
    await Comet.create({ name: 'Swift' });
    using told = listenToOperations();
    const many = [{ id: 1, name: 'Tuttle' }];
    await app.agent.patch('/api/comets').send(many).expect(200);
    await app.agent.delete('/api/comets/1').expect(204);
    const ends = told.filter(({ event }) => event === 'asyncEnd');
    expect(ends.map(({ message }) => message.operation)).to.deep.equal(['updateMany', 'delete']);
  });

  it('names a route of the user by its method, with its request and its answer', async () => {
    using told = listenToOperations();
    await app.agent.get('/api/probes/far/Voyager').expect(200, { name: 'Voyager' });
    const [{ message } = {}] = told;
    expect(message).to.include({ resource: 'Probe', operation: 'far', route: '/api/probes/far/:name' });
    expect(message?.request.method).to.equal('GET');
    expect(message?.response.statusCode).to.equal(200);
  });

  it('says whether our SQL alone has run it, or a method', async () => {
    using told = listenToOperations();
    await app.agent.get('/api/comets').expect(200);
    await app.agent.get('/api/probes').expect(200);
    const ends = told.filter(({ event }) => event === 'asyncEnd');
    const comets = onPath({ fast: 'rows', general: 'method', records: 'method' });
    expect(ends.map(({ message }) => message.runner)).to.deep.equal([comets, 'method']);
    // A replacer shapes the answer before the commit, so that a session begins.
    app.app.set('json replacer', (_name: string, value: unknown) => value);
    try {
      await app.agent.post('/api/comets').send({ name: 'Halley' }).expect(201);
    } finally {
      app.app.set('json replacer', undefined);
    }
    expect(told.at(-1)?.message.runner).to.equal(comets);
  });

  it('tells of statements what they do, and none of their values', async () => {
    using told = listenToStatements();
    await app.agent.post('/api/comets').send({ name: 'Tempel' }).expect(201);
    await app.agent.get('/api/comets?q=name==Tempel').expect(200);
    const summaries = told.filter(({ event }) => event === 'asyncEnd').map(({ message }) => message.summary);
    expect(summaries).to.include.members(['INSERT comets', 'SELECT comets']);
    expect(JSON.stringify(told)).not.to.include('Tempel');
  });

  it('tells of a statement that fails with what PostgreSQL says', async () => {
    await app.agent.post('/api/comets').send({ name: 'Biela' }).expect(201);
    using told = listenToStatements();
    await app.agent.post('/api/comets').send({ name: 'Biela' }).expect(409);
    const failed = told.find(({ event }) => event === 'error');
    expect(failed?.message.summary).to.equal('INSERT comets');
    expect(failed?.message.error).to.be.an('error');
    expect(failed?.message.rows).to.equal(null);
  });

  it('begins and ends each statement of requests side by side, within the operation of its request', async () => {
    const store = new AsyncLocalStorage<OperationMessage>();
    const operations = tracingChannel<unknown, OperationMessage>('crud-controllers:operation');
    const statements = tracingChannel<unknown, StatementMessage>('crud-controllers:statement');
    const seen = new Map<StatementMessage, OperationMessage | undefined>();
    const begin = (message: unknown) => seen.set(message as StatementMessage, store.getStore());
    const ended: unknown[] = [];
    const end = (message: unknown) => ended.push(message);
    operations.start.bindStore(store, (message) => message as OperationMessage);
    statements.start.subscribe(begin);
    statements.asyncEnd.subscribe(end);
    try {
      const paths = Array.from({ length: 20 }, (_, index) => `/api/comets/${index + 1}`);
      await Promise.all(paths.map((path) => app.agent.get(path).expect(404)));
    } finally {
      operations.start.unbindStore(store);
      statements.start.unsubscribe(begin);
      statements.asyncEnd.unsubscribe(end);
    }
    expect(ended).to.have.members([...seen.keys()]);
    const requests = [...seen.values()].map((operation) => operation?.request.url);
    expect(new Set(requests).size).to.equal(20);
    expect(requests).not.to.include(undefined);
  });
});
