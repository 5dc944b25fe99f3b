/** The spans and metrics of `crud-controllers/opentelemetry`, with the SDK. */
import {
  type Context,
  context,
  metrics,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, type CrudContext, crudController, type Id, type ReadQuery } from '../../../src/index.js';
import { traceWithOpenTelemetry } from '../../../src/opentelemetry.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'quasars', timestamps: false })
class Quasar extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false, unique: true }) declare name: string;
}

@Crud()
@Table({ tableName: 'pulsars', timestamps: false })
class Pulsar extends NumberedRow {}

class PulsarController extends crudController(Pulsar) {
  override async read(id: Id, query: ReadQuery, inner: CrudContext): Promise<never> {
    const span = trace.getTracer('test').startSpan('of the user');
    span.end();
    if (Number(id) === 666) throw new Error('A mistake of the user.');
    return super.read(id, query, inner) as never;
  }
}

/** Key of the server's own span in the context, which an instrumentation of HTTP would set. */
const RPC_METADATA = Symbol.for('OpenTelemetry SDK Context Key RPC_METADATA');

describe('Tracing with OpenTelemetry', () => {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 3_600_000,
  });
  const meters = new MeterProvider({ readers: [reader] });
  let app: TestApp;
  let stop: () => void;
  let rpc: { route?: string } | null = null;

  before(async () => {
    provider.register({ propagator: new W3CTraceContextPropagator() });
    metrics.setGlobalMeterProvider(meters);
    stop = traceWithOpenTelemetry();
    traceWithOpenTelemetry();
    app = await startTestApp({
      models: [Quasar, Pulsar],
      bootstrap: { controllers: [PulsarController] },
      prepare(express) {
        // Starts a span, as an instrumentation of HTTP does.
        express.use((request, response, next) => {
          if (request.get('x-server') === undefined) return next();
          const span = trace.getTracer('http').startSpan(request.method, { kind: SpanKind.SERVER });
          rpc = { route: '' };
          const within: Context = trace.setSpan(context.active(), span).setValue(RPC_METADATA, rpc);
          response.once('finish', () => span.end());
          return context.with(within, next);
        });
      },
    });
  });

  after(async () => {
    stop();
    await app[Symbol.asyncDispose]();
    await provider.shutdown();
    await meters.shutdown();
    for (const api of [trace, context, propagation, metrics]) api.disable();
  });

  beforeEach(async () => {
    await emptyTables(app, 'quasars', 'pulsars');
    exporter.reset();
  });

  const named = (name: string): ReadableSpan => {
    const span = exporter.getFinishedSpans().find((each) => each.name === name);
    if (!span)
      throw new Error(`There is no span ${name}: ${exporter.getFinishedSpans().map((each) => each.name)}`);
    return span;
  };
  const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;

  it('has a span for each request below that of the server, and its statements within', async () => {
    const { headers } = await app.agent.post('/quasars').set('x-server', 'yes').send({ name: '3C 273' });
    const [server, operation, statement] = [named('POST'), named('Quasar.create'), named('INSERT quasars')];
    expect(parentOf(operation)).to.equal(server.spanContext().spanId);
    expect(parentOf(statement)).to.equal(operation.spanContext().spanId);
    expect(operation.attributes).to.include({
      'crud.resource': 'Quasar',
      'crud.operation': 'create',
      'crud.request.id': headers['x-request-id'],
      'http.route': '/quasars',
    });
    expect(statement.kind).to.equal(SpanKind.CLIENT);
    expect(statement.attributes).to.include({
      'db.system.name': 'postgresql',
      'db.operation.name': 'INSERT',
      'db.query.summary': 'INSERT quasars',
    });
  });

  it('gives the server the route', async () => {
    await app.agent.get('/quasars/7').set('x-server', 'yes').expect(404);
    expect(rpc?.route).to.equal('/quasars/:id');
    expect(named('GET').attributes['http.route']).to.equal('/quasars/:id');
  });

  it('goes on with the trace of the client where there is no server span', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    await app.agent.get('/quasars').set('traceparent', `00-${traceId}-b7ad6b7169203331-01`).expect(200);
    expect(named('Quasar.list').spanContext().traceId).to.equal(traceId);
    expect(parentOf(named('Quasar.list'))).to.equal('b7ad6b7169203331');
    expect(named('Quasar.list').kind).to.equal(SpanKind.SERVER);
  });

  it('has code of the user within the request', async () => {
    await app.agent.get('/pulsars/1').expect(404);
    expect(parentOf(named('of the user'))).to.equal(named('Pulsar.read').spanContext().spanId);
    expect(parentOf(named('SELECT pulsars'))).to.equal(named('Pulsar.read').spanContext().spanId);
  });

  const isCalled = except({
    session: 'its parameters are read before the method, whose span a refused request has not',
  });
  isCalled.it('marks failures of the server, and no mistakes of clients', async () => {
    await app.agent.get('/quasars?q=nmae==x').expect(400);
    expect(named('Quasar.list').status.code).to.equal(SpanStatusCode.UNSET);
    await app.agent.get('/pulsars/666').expect(500);
    expect(named('Pulsar.read').status.code).to.equal(SpanStatusCode.ERROR);
    expect(named('Pulsar.read').attributes['error.type']).to.equal('Error');
  });

  it('names what PostgreSQL refuses, and shows no value', async () => {
    await app.agent.post('/quasars').send({ name: 'TON 618' }).expect(201);
    exporter.reset();
    await app.agent.post('/quasars').send({ name: 'TON 618' }).expect(409);
    const statement = named('INSERT quasars');
    expect(statement.status.code).to.equal(SpanStatusCode.ERROR);
    expect(statement.attributes['error.type']).to.equal('23505');
    const shown = exporter
      .getFinishedSpans()
      .map((each) => [each.name, each.attributes, each.events, each.status]);
    expect(JSON.stringify(shown)).not.to.include('TON 618');
  });

  it('measures the duration of statements', async () => {
    await app.agent.get('/quasars').expect(200);
    await reader.forceFlush();
    const names = metricExporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
      .map(({ descriptor }) => descriptor.name);
    expect(names).to.include('db.client.operation.duration');
  });

  it('ends when it is told to', async () => {
    stop();
    try {
      await app.agent.get('/quasars').expect(200);
      expect(exporter.getFinishedSpans()).to.deep.equal([]);
    } finally {
      stop = traceWithOpenTelemetry();
    }
  });
});
