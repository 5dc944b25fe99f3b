/** Loggers from npm: the parts of a failure that arrive in their output. */
// @runs unpooled: its first logger would get a line about the pooler
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import bunyan from 'bunyan';
import { expect } from 'chai';
import express from 'express';
import pino from 'pino';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import winston from 'winston';
import { bootstrap, crudRouter, type Logger, unitOfWork } from '../../../src/index.js';
import { serveTestApp } from '../../support/test-app.js';

@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends Model {
  @Column(DataType.TEXT) declare label: string;
}

/** Keeps the text that is written to it. */
class Paper extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

const LOGGERS: Readonly<Record<string, (paper: Paper) => Logger>> = {
  pino: (paper) => pino(paper),
  'a child of pino': (paper) => pino(paper).child({ part: 'atlas' }),
  bunyan: (paper) => bunyan.createLogger({ name: 'atlas', stream: paper }),
  'a child of bunyan': (paper) =>
    bunyan.createLogger({ name: 'atlas', stream: paper }).child({ part: 'atlas' }),
  winston: (paper) =>
    winston.createLogger({ transports: [new winston.transports.Stream({ stream: paper })] }),
  'winston with formats': (paper) =>
    winston.createLogger({
      format: winston.format.combine(
        winston.format.errors({ stack: true }),
        winston.format.splat(),
        winston.format.json(),
      ),
      transports: [new winston.transports.Stream({ stream: paper })],
    }),
};

class ShelfFull extends Error {
  override name = 'ShelfFull';
}

function fail(): never {
  throw new ShelfFull('no room');
}

describe('a logger of a library', () => {
  serveTestApp(() => ({ models: [Shelf], bootstrap: { models: [] } }));

  /** Has a request fail in an application with this logger. */
  async function failWith(logger: Logger): Promise<void> {
    const app = express();
    app.get('/shelves/:id', fail);
    await bootstrap(app, { models: [], logger });
    expect((await supertest(app).get('/shelves/1')).status).to.equal(500);
  }

  for (const [name, create] of Object.entries(LOGGERS)) {
    it(`has the request, the error and the stack, of a router and after a commit, too: ${name}`, async () => {
      const paper = new Paper();
      const logger = create(paper);
      await failWith(logger);
      const app = express();
      app.use('/shelves', crudRouter(Shelf, { dependencies: [fail], logger }));
      expect((await supertest(app).get('/shelves/1')).status).to.equal(500);
      await unitOfWork(async (uow) => uow.afterCommit(fail), { logger });
      const lines = paper.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines.map(({ msg, message = msg }) => message)).to.deep.equal([
        'GET /shelves/:id failed',
        'GET /shelves/:id failed',
        'A callback after a commit failed',
      ]);
      for (const { stack, level, name: ownName } of lines) {
        expect(stack).to.match(/^ShelfFull: no room\n +at fail /);
        expect(level).to.be.oneOf(['error', 50]);
        expect(ownName).to.equal(name.includes('bunyan') ? 'atlas' : undefined);
      }
      expect(lines[0]).to.include({ status: 500, error: 'ShelfFull' });
    });
  }

  it('has it on a console', async () => {
    const paper = new Paper();
    await failWith(new Console(paper));
    expect(paper.text).to.match(/^GET \/shelves\/:id failed \{/);
    for (const part of ["error: 'ShelfFull'", 'status: 500', 'ShelfFull: no room', 'at fail']) {
      expect(paper.text).to.include(part);
    }
  });

  it('keeps no answer when it throws, or rejects later', async () => {
    const broken = { debug: fail, info: fail, warn: fail, error: fail };
    await failWith(broken);
    await failWith({ ...broken, error: () => Promise.reject(new Error('the disk is full')) });
  });
});
