/** Reads, and requests that are refused. */
import type { SoakClient, Wanted } from './client.js';
import { ACCOUNTS } from './ledger.js';
import { MARK, TABLES } from './models.js';

/** Sends a read. */
export async function read(client: SoakClient): Promise<void> {
  const { dice } = client;
  const table = dice.pick(TABLES);
  const id = 1 + dice.roll(ACCOUNTS);
  const { text = 'nothing' } = client.created.at(-1) ?? {};
  const reads: readonly (Pick<Wanted, 'path'> & Partial<Wanted>)[] = [
    { path: `/${table}/${id}` },
    { path: `/${table}/${id}?fields=text` },
    { path: `/${table}/${id}`, method: 'HEAD' },
    { path: `/${table}?size=10` },
    { path: `/${table}?size=5&sort=-text` },
    { path: `/${table}?q=text==${encodeURIComponent(text)}` },
    { path: `/notes?size=3&q=text=like=${encodeURIComponent(`${MARK}1*`)}` },
  ];
  const neighbors: readonly (Pick<Wanted, 'path'> & Partial<Wanted>)[] = [
    { path: '/health/ready', needs: ['postgres', 'redis', 'clickhouse'] },
    { path: '/health/live', needs: [] },
    { path: '/metrics', needs: [] },
    { path: '/visits', needs: ['redis'] },
    { path: '/report', needs: ['clickhouse'] },
  ];
  const chosen = dice.pick(dice.once(25) ? neighbors : reads);
  await client.ask({ name: `GET ${chosen.path}`, method: 'GET', statuses: [200], ...chosen });
}

/** Requests that are refused without a back end, so also while one is away. */
const REFUSED: readonly (readonly [status: number, Omit<Wanted, 'name' | 'statuses'>])[] = [
  [400, { method: 'GET', path: '/notes/x' }],
  [400, { method: 'GET', path: '/notes?size=0' }],
  [400, { method: 'GET', path: '/orders?q=txt==x' }],
  [400, { method: 'GET', path: '/parcels?sort=version' }],
  [400, { method: 'GET', path: '/notes?after=x' }],
  [400, { method: 'POST', path: '/notes', body: '{' }],
  [400, { method: 'DELETE', path: '/notes' }],
  [404, { method: 'GET', path: '/nothing' }],
  [405, { method: 'PUT', path: '/notes/1', body: {} }],
  [415, { method: 'POST', path: '/notes', body: 'x', headers: { 'content-type': 'text/plain' } }],
  [422, { method: 'POST', path: '/orders', body: { txt: 'x' } }],
  [422, { method: 'PATCH', path: '/parcels/1', body: { text: 1 } }],
  [422, { method: 'POST', path: '/notes', body: [{ text: 'x' }, {}] }],
];

/** Requests that are refused because of the rows. */
const REFUSED_BY_ROWS: typeof REFUSED = [
  [404, { method: 'GET', path: '/notes/2147483647' }],
  [404, { method: 'DELETE', path: '/orders/2147483647' }],
  [412, { method: 'PATCH', path: '/parcels/1', body: { text: 'x' }, headers: { 'if-match': '"none"' } }],
];

/** Sends a request that is refused. */
export async function beRefused(client: SoakClient): Promise<void> {
  const { dice } = client;
  const needsRows = dice.once(4);
  const [status, call] = dice.pick(needsRows ? REFUSED_BY_ROWS : REFUSED);
  const name = `${call.method} ${call.path}`;
  await client.ask({ ...call, name, statuses: [status], needs: needsRows ? ['postgres'] : [] });
}
