/** An application's logger gets errors outside of the generated routes as well: after commits, and by hand. */
import { expect } from 'chai';
import express from 'express';
import { JsonController, Param, Post } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import {
  bootstrap,
  type CreateValues,
  crudRouter,
  InjectUnitOfWork,
  installExceptionHandlers,
  Repository,
  type UnitOfWork,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { captureStderr } from '../../support/captured-stderr.js';
import { expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Table({ tableName: 'letters', timestamps: false })
class Letter extends NumberedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare text: string;
}

function fail(): never {
  throw new Error('no stamps');
}

class LetterRepository extends Repository<Letter> {
  static override model = Letter;
  override create(values: CreateValues<Letter>): Promise<Letter> {
    return unitOfWork((uow) => {
      uow.afterCommit(fail);
      return super.create(values);
    });
  }
}

@JsonController('/post')
class PostController {
  @Post('/:text')
  post(@Param('text') text: string, @InjectUnitOfWork() uow: UnitOfWork): Promise<Letter> {
    uow.afterCommit(fail);
    return uow.repository(Letter).create({ text });
  }
}

describe("an application's logger", () => {
  let logger: CapturedLog;
  serveTestApp(() => ({ models: [Letter], bootstrap: { models: [] } }));

  beforeEach(() => {
    logger = new CapturedLog();
  });

  /** Expects one line, of this logger and of no other. */
  async function expectOneLine(message: string, send: () => Promise<number>, status: number): Promise<void> {
    const { result, lines } = await captureStderr(send);
    expect(result).to.equal(status);
    expect(lines).to.deep.equal([]);
    expect(logger.lines.map((line) => line.message)).to.deep.equal([message]);
    expect(logger.text).to.include('no stamps');
  }

  it('is told of a callback that fails after the commit of a request', async () => {
    const { agent } = await buildApp({ models: [], controllers: [PostController], logger });
    const send = async () => (await agent.post('/post/hello')).status;
    await expectOneLine('A callback after a commit failed', send, 200);
  });

  it('is told of one in an application that is mounted in it', async () => {
    const [outer, inner] = [express(), express()];
    inner.use('/letters', crudRouter(new LetterRepository()));
    outer.use('/inner', inner);
    await bootstrap(outer, { models: [], logger });
    const send = async () => (await supertest(outer).post('/inner/letters').send({ text: 'hello' })).status;
    await expectOneLine('A callback after a commit failed', send, 201);
  });

  it('is told of one in a router that was given another', async () => {
    const app = express();
    app.use('/letters', crudRouter(new LetterRepository(), { logger }));
    await bootstrap(app, { models: [], logger: new CapturedLog() });
    const send = async () => (await supertest(app).post('/letters').send({ text: 'hello' })).status;
    await expectOneLine('A callback after a commit failed', send, 201);
  });

  it('is told of one outside of requests, where it is passed', async () => {
    const write = async () => {
      await unitOfWork(async (uow) => uow.afterCommit(fail), { logger });
      return 0;
    };
    await expectOneLine('A callback after a commit failed', write, 0);
  });

  it('is told of failures in routes of Express that are mounted later', async () => {
    const app = express();
    await bootstrap(app, { models: [], logger });
    app.get('/stamps', fail);
    installExceptionHandlers(app);
    const send = async () => {
      const response = await supertest(app).get('/stamps');
      expectProblem(response, 500, { detail: 'Internal Server Error' });
      return response.status;
    };
    await expectOneLine('GET /stamps failed', send, 500);
  });
});
