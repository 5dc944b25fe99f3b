/** Two applications of one process serve the same model with other features: each write is followed by those of its own application. */
import { expect } from 'chai';
import express from 'express';
import { Body, JsonController, Patch, Post } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import supertest from 'supertest';
import { buildApplication } from '../../../src/bootstrap.js';
import { FEATURES } from '../../../src/features/features.js';
import {
  Crud,
  type CrudContext,
  crudController,
  type Id,
  InjectId,
  InjectRepository,
  InjectUnitOfWork,
  Repository,
  type UnitOfWork,
  unitOfWork,
} from '../../../src/index.js';
import type { FeatureFactory } from '../../../src/operation/feature.js';
import { NamedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ endpoints: ['create', 'update', 'delete', 'createMany', 'updateMany'] })
@Table({ tableName: 'comets', timestamps: false })
class Comet extends NamedRow {}

/** Served by the first application only. */
@Crud({ endpoints: ['create'] })
@Table({ tableName: 'tails', timestamps: false })
class Tail extends NamedRow {}

class CometController extends crudController(Comet) {
  override async update(id: Id, values: object, context: CrudContext<Comet>) {
    await new Repository(Comet).create({ name: 'beside' });
    return super.update(id, values, context);
  }

  @Patch('/:id/name')
  async rename(
    @InjectId() id: number,
    @InjectRepository(Comet) comets: Repository<Comet>,
    @Body() body: object,
  ) {
    await comets.update(id, body);
    await unitOfWork((uow) => uow.repository(Comet).update(id, { name: 'again' }));
    return comets.get(id);
  }
}

@JsonController('/fleets')
class FleetController {
  @Post()
  async launch(@InjectUnitOfWork() uow: UnitOfWork) {
    const { id } = await uow.repository(Comet).create({ name: 'first' });
    await uow.repository(Tail).create({ name: 'tail' });
    return { id };
  }
}

const MODELS = [Comet, Tail];
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

describe('a model that two applications serve', () => {
  const site = serveTestApp(() => ({ models: MODELS, bootstrap: { models: [] } }));
  let noted: string[] = [];

  const noting =
    (by: string): FeatureFactory =>
    ({ plan: { name } }) => ({
      async afterWrite({ endpoint, records }) {
        for (const { key } of records) noted.push(`${by}: ${endpoint} ${name} ${key}`);
      },
    });

  beforeEach(async () => {
    await emptyTables(site, 'comets', 'tails');
    noted = [];
  });

  for (const fastPath of [true, false]) {
    describe(`on the ${fastPath ? 'fast' : 'general'} path`, () => {
      let first: ReturnType<typeof supertest>;
      let second: ReturnType<typeof supertest>;

      before(() => {
        const serve = (name: string, models: typeof MODELS) => {
          const controllers = [CometController, FleetController];
          const options = { models, controllers, fastPath, indexAdvice: false, logger: QUIET };
          return supertest(express().use(buildApplication(options, [...FEATURES, noting(name)]).router));
        };
        first = serve('first', MODELS);
        second = serve('second', [Comet]);
      });

      it('has the features of the application of each request', async () => {
        for (const [name, agent] of [
          ['first', first],
          ['second', second],
          ['first', first],
        ] as const) {
          noted = [];
          const { body } = await agent.post('/comets').send({ name: 'Halley' });
          await agent.patch(`/comets/${body.id}`).send({ name: 'Encke' });
          await agent.patch(`/comets/${body.id}/name`).send({ name: 'Biela' });
          await agent.delete(`/comets/${body.id}`);
          const { id } = body;
          expect(noted).to.deep.equal(
            [
              `create Comet ${id}`,
              `create Comet ${id + 1}`,
              `update Comet ${id}`,
              `update Comet ${id}`,
              `update Comet ${id}`,
              `delete Comet ${id}`,
            ].map((each) => `${name}: ${each}`),
          );
        }
      });

      it('has them for writes of many records, and at the same time', async () => {
        const write = async (agent: typeof first) => {
          const { body } = await agent.post('/comets').send([{ name: 'Ariel' }, { name: 'Umbriel' }]);
          const ids = body.items.map(({ id }: Comet) => id);
          await agent.patch('/comets').send(ids.map((id: number) => ({ id, name: 'Puck' })));
          return ids as number[];
        };
        const [one, other] = await Promise.all([write(first), write(second)]);
        const of = (by: string) => noted.filter((each) => each.startsWith(by));
        const expected = (by: string, ids: readonly number[]) =>
          ['create', 'update'].flatMap((endpoint) => ids.map((id) => `${by}: ${endpoint} Comet ${id}`));
        const own = (by: string) => of(by).filter((each) => !each.includes('beside'));
        expect(own('first')).to.include.members(expected('first', one));
        expect(own('second')).to.include.members(expected('second', other));
        for (const id of one) expect(noted.join()).to.not.include(`second: update Comet ${id}`);
        for (const id of other) expect(noted.join()).to.not.include(`first: update Comet ${id}`);
      });

      it('has them in hand-written controllers, and those of another application for a model that its own does not serve', async () => {
        const { body } = await second.post('/fleets');
        expect(noted).to.deep.equal([`second: create Comet ${body.id}`, 'first: create Tail 1']);
      });

      it('has those of the last application where no request writes', async () => {
        const { id } = await new Repository(Comet).create({ name: 'alone' });
        expect(noted).to.deep.equal([`second: create Comet ${id}`]);
      });
    });
  }
});
