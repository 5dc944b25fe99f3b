/** An application with a tracer: each request has the spans of its own statements, whatever connection and batch they share. */
import { expect } from 'chai';
import { forSuite } from '../support/for-suite.js';
import { freshDatabase } from '../support/postgres.js';
import { wholeOr } from '../support/short.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { TracedProcess, type Tracer } from './tracers/traced-process.js';
import type { TracedSpan } from './tracers/traced-span.js';

/** Has the library make its own spans of OpenTelemetry beside those of the tracer. */
const OWN = { WITH_OWN_SPANS: 'yes' };
const INSTALLED: Readonly<Record<string, Tracer>> = {
  ...wholeOr<Readonly<Record<string, Tracer>>>({}, { OpenTelemetry: { file: 'opentelemetry.js', env: {} } }),
  'OpenTelemetry with comments in SQL, beside our spans': {
    file: 'opentelemetry.js',
    env: { WITH_COMMENTS: 'yes', ...OWN },
  },
  'dd-trace with comments in SQL': { file: 'datadog.js', env: {} },
};
/** `npm run tracers` installs these. */
const SENTRY: Readonly<Record<string, Tracer>> = {
  'Sentry 11': { file: 'sentry.js', env: { SENTRY_SDK: '@sentry/node' } },
  'Sentry 11 with OpenTelemetry, beside our spans': {
    file: 'sentry.js',
    env: { SENTRY_SDK: '@sentry/node', ...OWN },
  },
  'Sentry 10, beside our spans': { file: 'sentry.js', env: { SENTRY_SDK: 'sentry-10', ...OWN } },
};
const TRACERS = { ...INSTALLED, ...(process.env['CRUD_TEST_SENTRY'] ? SENTRY : {}) };
const CLIENTS = 12;
const COUNTED = Array.from({ length: CLIENTS }, (_, index) => index + 1);

/** A request, and the expected parts of its span. */
interface Case {
  readonly name: string;
  readonly body?: object;
  readonly status: number;
  /** The first word of its statement. */
  readonly operation: string;
  /** The value of one parameter, for tracers that record them. */
  readonly value?: string;
}

for (const [tracerName, tracer] of Object.entries(TRACERS)) {
  describe(`an application that ${tracerName} traces`, () => {
    const database = forSuite(() => freshDatabase());
    const proxy = forSuite(() => TcpProxy.before(database.url));
    const traced = forSuite(() => TracedProcess.start(tracer, proxy.href));

    /** Sends all at the same time, and expects the spans of each below its own. */
    async function expectSpans(cases: readonly Case[]): Promise<void> {
      const answers = await Promise.all(cases.map(({ name, body }) => traced.send(name, body)));
      expect(answers.map(({ status }) => status)).to.deep.equal(cases.map(({ status }) => status));
      await expectSpansOf(cases);
    }

    /** Expects it of requests that have been answered. Returns how many statements each has. */
    async function expectSpansOf(cases: readonly Case[]): Promise<readonly number[]> {
      const names = cases.map(({ name }) => name);
      const spans = await traced.spansOf(names);
      const statements = spans.filter(({ text }) => /^(SELECT|INSERT|UPDATE|DELETE) .*"towns"/.test(text));
      const owners = statements.map((statement) => requestOf(statement, spans));
      expect(owners).not.to.include(null);
      const counts: number[] = [];
      for (const { name, status, operation, value } of cases) {
        const own = statements.filter((_, index) => owners[index] === name);
        counts.push(own.length);
        const isShown = own.some(
          ({ text, values }) =>
            text.startsWith(operation) && (!value || values === null || values.includes(value)),
        );
        expect(isShown, `${name} has ${own.map(({ text }) => text)}`).to.equal(true);
        expect(own.at(-1)?.isError, name).to.equal(status >= 400);
      }
      return counts;
    }

    for (const path of ['fast', 'general']) {
      it(`shows who asked for what on the ${path} path`, async () => {
        const at = `/${path}/towns`;
        const all = (make: (count: number) => Case) => COUNTED.map(make);
        const named = (count: number) => ({ name: `${path} ${count}` });
        await expectSpans(
          all((n) => ({ name: `POST ${at}#${n}`, body: named(n), status: 201, operation: 'INSERT' })),
        );
        const { body } = await traced.send(`GET ${at}?size=100&sort=id`);
        const { items } = body as { items: { id: number; name: string }[] };
        const ids = items.filter(({ name }) => name.startsWith(path)).map(({ id }) => id);
        await traced.spansOf([`GET ${at}?size=100&sort=id`]);
        const row = (count: number) => `${at}/${ids[count - 1]}`;
        // Sequelize writes keys into its statements.
        const keyed = (count: number) => (path === 'fast' ? { value: `${ids[count - 1]}` } : {});
        const SELECT = { status: 200, operation: 'SELECT' };
        const read = (n: number, round: number) => ({
          name: `GET ${row(n)}#${round}`,
          ...SELECT,
          ...keyed(n),
        });
        await expectSpans([
          ...all((n) => read(n, 1)),
          ...all((n) => ({ name: `GET ${at}?page=${n}&size=1`, ...SELECT })),
          ...all((n) => ({ name: `POST ${at}#again${n}`, body: named(n), status: 409, operation: 'INSERT' })),
        ]);
        // Once it is known that they are fast, they share a connection, and go together.
        for (let round = 2; round <= 6; round += 1) {
          const reads = all((n) => read(n, round));
          const statuses = await traced.getTogether(reads.map(({ name }) => name));
          expect(statuses).to.deep.equal(reads.map(() => 200));
          // A slow read may be repeated; but the tracer and the library do not both show it.
          expect(Math.min(...(await expectSpansOf(reads)))).to.equal(1);
        }
        const change = (n: number) => ({ name: `PATCH ${row(n)}`, body: { name: `${path} new ${n}` } });
        await expectSpans(all((n) => ({ ...change(n), status: 200, operation: 'UPDATE', ...keyed(n) })));
        await expectSpans(
          all((n) => ({ name: `DELETE ${row(n)}`, status: 204, operation: 'DELETE', ...keyed(n) })),
        );
      });

      it(`shows where a connection was lost on the ${path} path`, async () => {
        const id = path === 'fast' ? '1234567890' : '1234567891';
        proxy.loseReplyTo(id);
        await expectSpans([{ name: `GET /${path}/towns/${id}`, status: 503, operation: 'SELECT' }]);
        proxy.heal();
        await expectSpans([{ name: `GET /${path}/towns?size=3`, status: 200, operation: 'SELECT' }]);
      });
    }

    it(`${tracer.env['WITH_OWN_SPANS'] ? 'shows' : 'makes no'} operations of the library`, async () => {
      const name = 'GET /fast/towns?size=1';
      await traced.send(name);
      const spans = await traced.spansOf([name]);
      const operations = spans.filter(({ name }) => name === 'Town.list');
      expect(operations.length > 0).to.equal(Boolean(tracer.env['WITH_OWN_SPANS']));
    });

    it('shows what a unit of work does', async () => {
      for (const status of [201, 409])
        await expectSpans(
          COUNTED.map((n) => ({ name: `POST /found/${n}#${status}`, status, operation: 'INSERT' })),
        );
    });

    it('has nothing to warn of', () => {
      const own = traced.errors.split('\n').filter((line) => line && !line.startsWith('{"level":"error"'));
      expect(own).to.deep.equal([]);
    });
  });
}

/** The request in whose span another one is. */
function requestOf(span: TracedSpan, spans: readonly TracedSpan[]): string | null {
  const parent = spans.find(({ id }) => id === span.parent);
  if (!parent) return span.request;
  return parent.request ?? requestOf(parent, spans);
}
