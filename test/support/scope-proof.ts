/**
 * Every request of a tenant to every route, sent three times: beside the rows of others, without them, and beside other ones. An
 * answer that differs, a write that changes them, and a statement without the scope are findings.
 */
import { hash } from 'node:crypto';
import type { Client } from 'pg';
import type { RouteInfo } from '../../src/index.js';
import type { Listening } from './listen.js';
import {
  type DescribedOperation,
  type DescribedRoute,
  requestsOf,
  type Samples,
  walksOf,
} from './route-requests.js';
import { judge } from './scope-judge.js';
import { wholeOr } from './short.js';
import type { StatementTap } from './statement-tap.js';
import { fill, OWNED_TABLES, type World } from './tenant-notes.js';
import { ask, type WholeAnswer, type WholeRequest } from './two-paths.js';

/** An application to prove something of. */
export interface ProvenSite {
  readonly listening: Listening;
  readonly routes: readonly RouteInfo[];
  readonly document: object;
  readonly tap: StatementTap;
  /** Past the tap. */
  readonly direct: Client;
}

/** Rows of the one tenant of the requests, and of others. */
export interface ProvenTable {
  readonly table: string;
  /** The owners whose rows the request may touch. */
  readonly allowed: readonly string[];
  /** The condition of the rows that it may not touch. */
  readonly foreign: string;
  /** The attribute that addresses a row; it has the same values as the primary key, which is the default. */
  readonly id?: string;
}

const OWN = { id: 4, owner: 'A', code: 'asp', points: 5, isOpen: true, folderId: 1 };
const FOREIGN = { id: 2, owner: 'B', code: '~bee', points: 6, isOpen: false, folderId: 2 };
const FRESH = { code: 'fresh', points: 3 };
const CONVERSATIONS = 6;
const IDS = ['1', '4', '13', '3', '2', '11', '6', '12', '999', '-1', 'x'];
/** Text that only rows of others have. */
const MARK = /~[\w ]+/;

/** In short, a quarter of the requests, always the same ones: a scope that a statement lacks shows in many of them. */
const isChosen = wholeOr(
  (request: WholeRequest | string) => /^[4-7]/.test(hash('sha256', JSON.stringify(request))),
  () => true,
);

/** Answers that reveal rows of others, and writes that reach them. */
export async function findingsOf(
  site: ProvenSite,
  resource: string,
  scoped: ProvenTable,
  worlds: readonly World[],
): Promise<string[]> {
  const routes = describe(site, resource, scoped);
  const samples = await harvest(site, routes, scoped);
  const findings: string[] = [];
  const told = new Map<string, string>();
  for (const world of worlds) {
    await site.direct.query(fill(world));
    site.tap.take();
    const foreign = await foreignRows(site, scoped);
    const judgeAnswer = (request: WholeRequest, answer: WholeAnswer): void => {
      const asked = JSON.stringify(request);
      const text = JSON.stringify(answer);
      const [mark] = MARK.exec(text) ?? [];
      if (mark && !asked.includes(mark)) findings.push(`${asked} shows "${mark}": ${text}`);
      if (told.has(asked) && told.get(asked) !== text)
        findings.push(`${asked} differs with others' rows ${world}: ${text} and ${told.get(asked)}`);
      told.set(asked, text);
    };
    const reads = routes.filter(({ method }) => method === 'GET');
    await Promise.all(
      conversations(site, reads, samples).map(async (each) => {
        for await (const [request, answer] of each) judgeAnswer(request, answer);
      }),
    );
    for (const request of routes.flatMap((route) =>
      reads.includes(route)
        ? []
        : requestsOf(route, samples).filter((request, index) => index === 0 || isChosen(request)),
    )) {
      const answer = await askAsA(site.listening, request);
      judgeAnswer(request, answer);
      if (answer.status >= 300) continue;
      if ((await foreignRows(site, scoped)) !== foreign)
        findings.push(`${JSON.stringify(request)} has changed others' rows`);
      await site.direct.query(fill(world));
    }
    if ((await foreignRows(site, scoped)) !== foreign)
      findings.push("A request that failed has changed others' rows");
    const tables = [
      { ...scoped, column: 'owner' },
      ...OWNED_TABLES.map((table) => ({ table, column: 'owner', allowed: ['A'] })),
    ];
    const sent = new Map(site.tap.take().map((each) => [JSON.stringify(each), each]));
    for (const statement of sent.values()) {
      findings.push(...tables.flatMap((each) => judge(statement, each) ?? []));
    }
  }
  return [...new Set(findings)];
}

/** The routes of a resource, those that a controller adds among them. */
function describe(
  { routes, document }: ProvenSite,
  resource: string,
  { id = 'id' }: ProvenTable,
): DescribedRoute[] {
  const { paths, components } = document as {
    paths: Record<string, Record<string, DescribedOperation>>;
    components: { schemas: DescribedRoute['schemas'] };
  };
  return routes
    .filter((route) => route.resource === resource)
    .map(({ method, path }) => {
      const operation =
        paths[path.replace(/:id\b/, `{${id}}`).replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      if (!operation) throw new Error(`The document does not describe ${method} ${path}.`);
      return { method, path, operation, schemas: components.schemas };
    });
}

/** Cursors and tags that both tenants are given where the rows of both are there. */
async function harvest(
  { listening, direct }: ProvenSite,
  routes: readonly DescribedRoute[],
  { id: address }: ProvenTable,
): Promise<Samples> {
  await direct.query(fill('there'));
  const cursors = new Set<string>();
  const tags = new Set<string>();
  for (const { method, path } of routes) {
    if (method !== 'GET') continue;
    for (const tenant of ['A', 'B']) {
      const id = tenant === 'A' ? '4' : '2';
      const target = path.includes(':') ? path.replace(/:\w+/, id) : `${path}?size=2`;
      const answer = await ask(listening, { path: target, headers: { tenant } });
      const next = cursorsIn(answer).get('after');
      if (next)
        for (const each of [next, ...(tenant === 'A' && address === undefined ? forged(next) : [])])
          cursors.add(each);
      for (const line of answer.headers) if (line.startsWith('ETag: ')) tags.add(line.slice(6));
    }
  }
  const addressed = (row: Readonly<Record<string, unknown>>) =>
    address ? { ...row, [address]: row['id'] } : row;
  return {
    own: addressed(OWN),
    foreign: addressed(FOREIGN),
    fresh: FRESH,
    ids: IDS,
    cursors: [...cursors],
    tags: [...tags],
  };
}

/** The cursor of A's own list, as if it was made from rows of others: without a secret, anybody can write one. */
function forged(cursor: string): string[] {
  const [version, digest, , ...values] = JSON.parse(
    Buffer.from(cursor.split('.')[0] ?? '', 'base64url').toString(),
  );
  return ['2', '8', '-1'].flatMap((id) =>
    [0, 1].map((isInclusive) => {
      const content = JSON.stringify([version, digest, isInclusive, ...values.slice(0, -1), id]);
      const payload = Buffer.from(content).toString('base64url');
      return `${payload}.${hash('sha256', payload, 'base64url').slice(0, 24)}`;
    }),
  );
}

/** Several clients at a time; each sends one request after the other. */
function conversations(
  { listening }: ProvenSite,
  routes: readonly DescribedRoute[],
  samples: Samples,
): AsyncGenerator<[WholeRequest, WholeAnswer]>[] {
  const lists = routes.filter(({ path }) => !path.includes(':'));
  const single = routes.flatMap((route) => requestsOf(route, samples)).filter(isChosen);
  const walks = lists.flatMap((route) => walksOf(route, samples)).filter(isChosen);
  return Array.from({ length: CONVERSATIONS }, async function* (_, number) {
    const isMine = (_request: unknown, index: number) => index % CONVERSATIONS === number;
    for (const request of single.filter(isMine))
      yield [request, await askAsA(listening, request)] as [WholeRequest, WholeAnswer];
    for (const path of walks.filter(isMine)) yield* walk(listening, path);
  });
}

/** From the first page to the last, and back. */
async function* walk(listening: Listening, path: string): AsyncGenerator<[WholeRequest, WholeAnswer]> {
  let request: WholeRequest = { method: 'GET', path };
  let direction = 'after';
  for (let page = 1; page < 30; page += 1) {
    const answer = await askAsA(listening, request);
    yield [request, answer];
    const cursors = cursorsIn(answer);
    const { items = [] } = answer.status === 200 ? JSON.parse(answer.body) : {};
    if (direction === 'after' && cursors.has('before') && !cursors.has('after')) direction = 'before';
    const cursor = cursors.get(direction);
    if (cursor) request = { method: 'GET', path: `${path}&${direction}=${cursor}` };
    else if (answer.body.includes('"page":') && items.length > 0)
      request = { method: 'GET', path: `${path}&page=${page + 1}` };
    else return;
  }
  throw new Error(`${path} has no end.`);
}

function cursorsIn({ status, body }: WholeAnswer): Map<string, string> {
  if (status !== 200 || body === '') return new Map();
  const { next_cursor: next, prev_cursor: prev } = JSON.parse(body);
  return new Map([...(next ? [['after', next] as const] : []), ...(prev ? [['before', prev] as const] : [])]);
}

function askAsA(listening: Listening, request: WholeRequest): Promise<WholeAnswer> {
  return ask(listening, { ...request, headers: { ...request.headers, tenant: 'A' } });
}

async function foreignRows({ direct }: ProvenSite, { table, foreign }: ProvenTable): Promise<string> {
  const { rows } = await direct.query(
    `SELECT string_agg(rows::text, ' ' ORDER BY id) AS text FROM ${table} AS rows WHERE ${foreign}`,
  );
  return String(rows[0]?.text);
}
