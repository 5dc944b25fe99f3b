/** The contenders of lists with relations. */
import { join } from 'node:path';
import type { Contender } from '../contenders.js';
import { BENCH } from '../paths.js';
import { handWritten, type LibraryWire, nest, ours } from './library-wires.js';

/** Joins without a limit read 100,000 books for each request. */
const UNLIMITED = ['hot20'];

const READY = { readyPath: '/books?size=20' };

/** They are measured in this order. */
export const RELATION_CONTENDERS: readonly Contender<LibraryWire>[] = [
  byHand('lean-joined', 'node:http + pg, one statement', 'limit'),
  byHand('lean-levels', 'node:http + pg, a statement for each level', 'limit'),
  {
    ...byHand('ours', 'crud-controllers', 'ours', ['express', 'routing-controllers', 'sequelize', 'pg']),
    wire: ours,
  },
  byHand('json-agg', 'node:http + pg, LATERAL and json_agg', 'limit'),
  {
    ...byHand('sequelize-include', 'Express 4 + Sequelize, include', 'hand-written', [
      'express4',
      'sequelize',
    ]),
    omits: UNLIMITED,
  },
  byHand('sequelize-separate', 'Express 4 + Sequelize, separate', 'hand-written', ['express4', 'sequelize']),
  {
    name: 'nest-crud',
    title: 'NestJS + @dataui/crud + TypeORM, joins',
    group: 'peer',
    script: join(BENCH, 'peers/dist/nest-crud-relations.js'),
    wire: nest,
    packages: ['@nestjs/core', '@dataui/crud', 'typeorm'],
    readyPath: '/books?limit=20',
    omits: UNLIMITED,
  },
];

function byHand(
  name: string,
  title: string,
  group: Contender['group'],
  packages: readonly string[] = ['pg'],
): Contender<LibraryWire> {
  return { name, title, group, script: join(__dirname, `${name}.js`), wire: handWritten, packages, ...READY };
}
