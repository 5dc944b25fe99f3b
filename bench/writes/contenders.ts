/** The contenders where records are written under conditions, with keys, and many at once. */
import { join } from 'node:path';
import type { Contender } from '../contenders.js';
import { BENCH } from '../paths.js';
import type { WriteWorkload } from './workloads.js';
import { handWritten, nest, ours, type WriteWire } from './write-wires.js';

/** Orders with their lines. */
const NESTED = ['createOrder', 'changeOrder'] as const;

/** Nobody else stores changes. */
const KEPT = ['updateKept', 'updateKept100'] as const;

const OURS = ['express', 'routing-controllers', 'sequelize', 'pg'];

/** They are measured in this order. */
export const WRITE_CONTENDERS: readonly Contender<WriteWire>[] = [
  { ...own('node-http-texts', 'node:http + pg, texts', 'limit', ['pg']), ...omits(...NESTED, ...KEPT) },
  { ...own('node-http', 'node:http + pg', 'limit', ['pg']), ...omits(...KEPT) },
  { ...own('ours', 'crud-controllers', 'ours', OURS), wire: ours },
  { ...own('ours-general', 'crud-controllers, general path', 'ours', OURS), wire: ours },
  {
    ...own('express4-sequelize', 'Express 4 + Sequelize', 'hand-written', ['express4', 'sequelize']),
    // Sequelize has no statement for it.
    ...omits('update100', ...KEPT),
  },
  {
    name: 'nest-crud',
    title: 'NestJS + @dataui/crud + TypeORM',
    group: 'peer',
    script: join(BENCH, 'peers/dist/nest-crud-writes.js'),
    wire: nest,
    packages: ['@nestjs/core', '@dataui/crud', 'typeorm'],
    ...omits('createWithKey', 'updateIfMatch', 'update100', 'updateRange', ...NESTED, ...KEPT),
  },
];

/** The workloads that a contender does not offer. */
function omits(...workloads: readonly WriteWorkload[]): Pick<Contender, 'omits'> {
  return { omits: workloads };
}

function own(
  name: string,
  title: string,
  group: Contender['group'],
  packages: readonly string[],
): Contender<WriteWire> {
  return { name, title, group, script: join(__dirname, `${name}.js`), wire: handWritten, packages };
}
