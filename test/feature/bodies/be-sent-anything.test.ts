/**
 * Random requests to every route: bodies, query strings, paths and headers of every kind. None is answered with a 5xx, none costs much, and
 * what is accepted is what is stored.
 */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { inspect, isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import type { ColumnType } from '../../../src/describe/column-type.js';
import { introspectModel } from '../../../src/describe/describe-model.js';
import { durationOf } from '../../../src/describe/interval-value.js';
import type { AttributeInfo } from '../../../src/describe/model-info.js';
import type { ModelClass } from '../../../src/index.js';
import { rightBody } from '../../support/any-body.js';
import {
  type AnyRequest,
  anyRequest,
  manyOf,
  type Target,
  withOneMistake,
} from '../../support/any-request.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import {
  Anything,
  HandController,
  Piece,
  ProfileModel,
  RIGHT_LETTERS,
  RIGHT_PIECES,
  RIGHT_PROFILES,
} from '../../support/fragile-models.js';
import { serveTestApp } from '../../support/test-app.js';

const STEPS = Number(process.env['CRUD_TEST_STEPS'] ?? 150);
const SEED = Number(process.env['CRUD_TEST_SEED'] ?? Date.now() % 1e9);
/** Milliseconds of the processor for one request, the client's part included. */
const LIMIT = 100;
const RESOURCES = [
  ['/anythings', Anything],
  ['/pieces', Piece],
  ['/profiles', ProfileModel],
] as const;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

except(OF_MANY).describe(`Anything that is sent (seed ${SEED}, ${STEPS} requests)`, function () {
  this.timeout(60_000 + STEPS * 200);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const log = new CapturedLog();
  after(async () => agent.destroy());

  const site = serveTestApp(() => ({
    models: [Anything, Piece, ProfileModel],
    bootstrap: { controllers: [HandController], idempotency: { principal: () => 'all' }, logger: log },
    minPool: 2,
  }));
  let port: string;

  before(async () => {
    // A busy machine makes values for longer than five seconds, and the server would close the connection of the next request.
    site.server.server.keepAliveTimeout = 0;
    port = new URL(site.agent.get('/').url).port;
    await Anything.bulkCreate(
      ['a', 'b', '__proto__', 'é 😀', 'toString'].map((id) => ({ id, text: id, exact: '1.5' })),
    );
    await Piece.bulkCreate([
      { label: 'one', anythingId: 'a' },
      { label: 'two', anythingId: '__proto__' },
      { label: 'three' },
    ]);
    await ProfileModel.bulkCreate([{ name: 'x' }, { name: 'y', settings: { a: 1 } }]);
  });

  function send({ method, path, headers, body }: AnyRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const length = body ? { 'content-length': String(body.length) } : {};
      const sent = request({
        agent,
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: { ...headers, ...length },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      });
      sent.end(body ?? undefined);
    });
  }

  /** Milliseconds of the processor. The least of several: garbage may be collected at any time, and code compiled. */
  async function costOf(each: AnyRequest): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let trial = 0; trial < 4 && least > LIMIT; trial += 1) {
      const start = process.cpuUsage();
      await send(each);
      const { user, system } = process.cpuUsage(start);
      least = Math.min(least, (user + system) / 1000);
    }
    return least;
  }

  async function cursorsOf(path: string): Promise<string[]> {
    const { text } = await send({ method: 'GET', path, headers: {}, body: null });
    const { next_cursor: next } = JSON.parse(text) as { next_cursor: string | null };
    return next === null ? [] : [next];
  }

  it('is answered without a 5xx and in little time, and is stored as it was sent', async () => {
    const cursors = await Promise.all(
      ['?size=1', '?size=1&sort=-text', '?size=2&sort=exact'].map((query) => cursorsOf(`/anythings${query}`)),
    );
    const names = RESOURCES.flatMap(([, model]) => attributesOf(model).map(({ name }) => name));
    const subject = {
      targets: [
        ...RESOURCES.flatMap(([path, model]) => targetsOf(path, model, names)),
        ...handTargets(names),
      ],
      ids: ['a', 'b', '__proto__', 'é 😀', 'toString', '1', '2', '3', '4', '5', '6'],
      names: [...new Set(names)],
      cursors: cursors.flat(),
    };
    const inherited = Reflect.ownKeys(Object.prototype).length;
    await fc.assert(
      fc.asyncProperty(anyRequest(subject), async (each) => {
        const start = process.cpuUsage();
        const answer = await send(each);
        const { user, system } = process.cpuUsage(start);
        expect(answer.status, answer.status < 500 ? answer.text : inspect(log.lines.at(-1))).to.be.within(
          200,
          499,
        );
        if (answer.status >= 400 && each.method !== 'HEAD') expectProblem(answer);
        expect(Reflect.ownKeys(Object.prototype)).to.have.length(inherited);
        expect(Object.keys(Object.prototype)).to.deep.equal([]);
        await expectStored(each, answer);
        if ((user + system) / 1000 > LIMIT) expect(await costOf(each), 'milliseconds').to.be.below(LIMIT);
      }),
      { numRuns: STEPS, seed: SEED },
    );
  });

  it('is taken where it is right, by routes written by hand, too', async () => {
    const [letter] = fc.sample(RIGHT_LETTERS, { numRuns: 1, seed: SEED });
    for (const [method, path, body] of [
      ['POST', '/hand', letter],
      ['POST', '/hand/parts', { letter }],
      ['PUT', '/hand/1', letter],
    ] as const) {
      const headers = { 'content-type': 'application/json' };
      const answer = await send({ method, path, headers, body: Buffer.from(JSON.stringify(body)) });
      expect(answer.status, answer.text).to.equal(200);
    }
  });

  /** A record that was created is read as it was sent, and as it was answered. */
  async function expectStored({ method, path, headers, body }: AnyRequest, answer: Answer): Promise<void> {
    const { location } = answer.headers;
    const resource = RESOURCES.find(([prefix]) => path.split('?')[0] === prefix);
    if (answer.status !== 201 || !location || !resource || method !== 'POST') return;
    const read = await send({ method: 'GET', path: location, headers: {}, body: null });
    expect(read.status, location).to.equal(200);
    // With `Prefer: return=minimal` there is none.
    if (answer.text !== '') expect(JSON.parse(read.text)).to.deep.equal(JSON.parse(answer.text));
    if (resource[1] !== Anything || !body || headers['content-encoding']) return;
    const sent = JSON.parse(body.toString().replace(/^\ufeff/, '')) as Record<string, unknown>;
    const stored = JSON.parse(read.text) as Record<string, unknown>;
    for (const { name, type } of attributesOf(Anything)) {
      if (!Object.hasOwn(sent, name) || type.kind === 'other' || type.kind === 'virtual') continue;
      const [expected, found] = [asStored(type, sent[name]), asStored(type, stored[name])];
      expect(isDeepStrictEqual(found, expected), `${name}: ${stored[name]} for ${sent[name]}`).to.equal(true);
    }
  }
});

function attributesOf(model: ModelClass): readonly AttributeInfo[] {
  const { info } = introspectModel(model);
  if (!info) throw new TypeError('The model has no key.');
  return [...info.attributes.values()];
}

/** Right bodies of a resource. */
function rightBodies(model: ModelClass): fc.Arbitrary<object> {
  if (model === Piece) return RIGHT_PIECES;
  if (model === ProfileModel) return RIGHT_PROFILES;
  const attributes = attributesOf(Anything).filter(
    ({ name, role, type }) => name === 'id' || (role === 'data' && type.kind !== 'other'),
  );
  return rightBody(attributes, ({ role }) => role !== 'primaryKey');
}

/** The generated routes of a resource. */
function targetsOf(path: string, model: ModelClass, names: readonly string[]): readonly Target[] {
  const right = withOneMistake(rightBodies(model), names);
  const many = manyOf(right, names);
  const key = model === Anything ? '"a"' : '1';
  const known = right.map((text) => text.replace(/^\{(?=")/, `{"id":${key},`));
  const item = `${path}/:id`;
  return [
    { method: 'GET', path, body: null },
    { method: 'HEAD', path, body: null },
    { method: 'GET', path: item, body: null },
    { method: 'GET', path: `${item}/parts`, body: null },
    { method: 'POST', path, body: right },
    { method: 'POST', path, body: right },
    { method: 'PATCH', path: item, body: right },
    { method: 'PUT', path: item, body: right },
    { method: 'POST', path, body: many },
    { method: 'POST', path: `${path}?atomic=false`, body: many },
    { method: 'POST', path: `${path}?dry_run=true`, body: many },
    { method: 'PATCH', path, body: manyOf(known, names) },
    { method: 'PATCH', path: `${path}?q=id==1&dry_run=true`, body: right },
    { method: 'DELETE', path: item, body: null },
    { method: 'DELETE', path: `${path}?dry_run=true&q=id==1`, body: null },
    { method: 'POST', path: `${item}/restore`, body: null },
    { method: 'DELETE', path: `${item}/purge`, body: null },
    { method: 'POST', path: `${item}/parts`, body: right },
    { method: 'OPTIONS', path, body: null },
    { method: 'TRACE', path: item, body: null },
  ];
}

function handTargets(names: readonly string[]): readonly Target[] {
  const letter = withOneMistake(RIGHT_LETTERS, names);
  return [
    { method: 'POST', path: '/hand', body: letter },
    { method: 'POST', path: '/hand/parts', body: letter.map((text) => `{"letter":${text}}`) },
    { method: 'PUT', path: '/hand/:id', body: letter },
    { method: 'GET', path: '/hand/:id', body: null },
    { method: 'GET', path: '/health/ready', body: null },
    { method: 'GET', path: '/openapi.json', body: null },
    { method: 'GET', path: '/:id', body: null },
  ];
}

/** RFC 9457. */
function expectProblem({ status, headers, text }: Answer): void {
  // The path is none of our routes, so the answer is Express's.
  if (status === 404 && text.includes('<pre>Cannot ')) return;
  expect(headers['content-type'], text).to.match(/^application\/problem\+json\b/);
  const problem = JSON.parse(text) as Record<string, unknown>;
  expect(problem['detail'], text).to.be.a('string');
  if ('status' in problem) expect(problem['status']).to.equal(status);
  for (const issue of (problem['errors'] ?? []) as Record<string, unknown>[]) {
    expect(issue['code'], text).to.be.a('string');
    expect(issue['detail'], text).to.be.a('string');
    expect(typeof issue['pointer'] === 'string' || typeof issue['parameter'] === 'string', text).to.equal(
      true,
    );
  }
}

/** A value in one form, for values that have several. */
function asStored(type: ColumnType, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  switch (type.kind) {
    case 'array':
      return (value as unknown[]).map((each) => asStored(type.element, each));
    case 'float':
      // PostgreSQL returns the shortest text of a number, and JSON has no -0.
      return (type.maximum < 1e39 ? Math.fround(value as number) : (value as number)) + 0;
    case 'integer':
      return (value as number) + 0;
    case 'bigint':
      return String(BigInt(value as string));
    case 'decimal':
    case 'money':
      return plainDecimal(value as string);
    case 'interval':
      return durationOf(value);
    case 'network':
      return (value as string).toLowerCase();
    case 'range': {
      const { lower, empty } = value as { readonly lower?: unknown; readonly empty?: true };
      return empty ?? asStored(type.bound, lower);
    }
    case 'multirange':
      return (value as unknown[]).map((each) => asStored({ ...type, kind: 'range' }, each));
    case 'date':
      return new Date(value as string).toISOString();
    case 'time':
      return plainTime(value as string);
    case 'uuid':
      return (value as string).toLowerCase();
    case 'json':
      return JSON.parse(JSON.stringify(value)) as unknown;
    default:
      return value;
  }
}

/** Without zeros at the end, and without a sign where there is nothing. */
function plainDecimal(text: string): string {
  const short = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return short === '-0' ? '0' : short;
}

function plainTime(text: string): string {
  const whole = text.length === 5 ? `${text}:00` : text;
  return whole.includes('.') ? whole.replace(/\.?0+$/, '') : whole;
}
