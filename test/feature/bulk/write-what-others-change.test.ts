/** Many records of which another transaction changes some meanwhile: the stored rows are those of one writer. */
import { expect } from 'chai';
import { DataType } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { KeyedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { except, OF_MANY } from '../../support/combination.js';
import { serveTestApp, type TestApp } from '../../support/test-app.js';
import { behind } from '../../support/until-locked.js';

const NUMBER = { type: DataType.INTEGER, allowNull: false };
const COLUMNS = { n: NUMBER, m: { ...NUMBER, defaultValue: 0 } };
const crud = {
  endpoints: ['read', 'create', 'update', 'createMany', 'updateMany', 'upsert'],
  filterAllow: ['id'],
  upsert: [['id']],
};
const Plain = served('plain', COLUMNS, { crud, base: KeyedRow });
const Counted = served('counted', COLUMNS, { crud, base: KeyedRow, table: { version: true } });
/** A rule of Sequelize's has Sequelize write it on either path. */
const RULED = { ...COLUMNS, n: { ...NUMBER, validate: { min: 0 } } };
const Ruled = served('ruled', RULED, { crud, base: KeyedRow });

type Send = (agent: TestApp['agent'], path: string) => PromiseLike<Response>;

/** The first row has this `n` already, until the other transaction commits. */
const BOTH = [
  { id: 1, n: 1 },
  { id: 2, n: 1 },
];
const ROWS_OF_BOTH = [
  { n: 1, m: 4 },
  { n: 1, m: 4 },
];
const REQUESTS: Readonly<Record<string, readonly [Send, stored: readonly object[]]>> = {
  'an array': [(agent, path) => agent.patch(path).send(BOTH), ROWS_OF_BOTH],
  'an array without an answer': [
    (agent, path) => agent.patch(path).set('Prefer', 'return=minimal').send(BOTH),
    ROWS_OF_BOTH,
  ],
  'an array, each for itself': [
    (agent, path) => agent.patch(`${path}?atomic=false`).send(BOTH),
    ROWS_OF_BOTH,
  ],
  'a filter': [(agent, path) => agent.patch(`${path}?q=id=in=(1,2)`).send({ n: 1 }), ROWS_OF_BOTH],
  'an upsert': [(agent, path) => agent.post(`${path}?on_conflict=id`).send(BOTH), ROWS_OF_BOTH],
  'an array of one': [
    (agent, path) => agent.patch(path).send([{ id: 1, n: 1, m: 2 }]),
    [
      { n: 1, m: 2 },
      { n: 4, m: 4 },
    ],
  ],
};

except(OF_MANY).describe('many records that others change', () => {
  const site = serveTestApp(() => ({ models: [Plain, Counted, Ruled], minPool: 4 }));

  for (const table of ['plain', 'counted', 'ruled'])
    for (const [name, [send, stored]] of Object.entries(REQUESTS))
      it(`have all values of ${name}, of ${table}`, async () => {
        const { agent, engine } = site;
        const { sequelize } = engine;
        await sequelize.query(
          `TRUNCATE ${table}; INSERT INTO ${table} (id, n, m) VALUES (1, 1, 0), (2, 7, 0)`,
        );
        const change = `UPDATE ${table} SET n = 4, m = 4`;
        const { status, text } = await behind(sequelize, change, () => send(agent, `/${table}`));
        expect(status, text).to.be.below(300);
        const [rows] = await sequelize.query(`SELECT n, m FROM ${table} ORDER BY id`);
        expect(rows).to.deep.equal(stored);
      });
});
