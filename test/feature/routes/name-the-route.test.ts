/** `req.route`, as loggers, metrics and tracers read it when an answer has been sent: the route that has answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Request, RequestHandler } from 'express';
import { Body, Get, JsonController, Post, UseAfter } from 'routing-controllers';
import { crudController } from '../../../src/index.js';
import { Name } from '../../models/names.js';
import { buildApp } from '../../support/build-app.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

const later: string[] = [];

/** Takes a turn, after which routing-controllers goes on to the routes behind. */
const slowly: RequestHandler = (request, _response, next) => {
  setImmediate(() => {
    later.push(request.path);
    next();
  });
};

class ProjectController extends crudController(Name) {
  @Get('/plans')
  @Post('/plans')
  plans(): object {
    return { plans: [] };
  }

  @Post('/late')
  @UseAfter(slowly)
  late(): object {
    return {};
  }
}

@JsonController('/names')
class TaskController {
  @Post('/:id/tasks')
  add(@Body() task: object): object {
    return task;
  }

  @Post('/:id/:what')
  other(): object {
    return {};
  }
}

const REQUESTS = [
  ['post', '/names/plans', '/names/plans'],
  ['get', '/names/plans', '/names/plans'],
  ['post', '/names/late', '/names/late'],
  ['get', '/names', '/names'],
  ['get', '/names/1', '/names/:id'],
  ['get', '/names/9', '/names/:id'],
  ['post', '/names', '/names'],
  ['patch', '/names/1', '/names/:id'],
  ['post', '/names/1/tasks', '/names/:id/tasks'],
  ['post', '/names/1/notes', '/names/:id/:what'],
  ['delete', '/names/1', '/names/:id'],
  ['put', '/names/1', '/names/:id'],
] as const;

describe('the route that a request names', () => {
  const site = serveTestApp(() => ({ models: [Name], bootstrap: { models: [] } }));
  const seen: unknown[] = [];

  const watch: RequestHandler = (request: Request, response, next) => {
    for (const end of ['finish', 'close']) response.once(end, () => seen.push(request.route?.path));
    next();
  };

  for (const fastPath of [true, false]) {
    it(`is the one that has answered, also when it was not the last to match: fastPath ${fastPath}`, async () => {
      const options = { models: [Name], controllers: [ProjectController, TaskController], fastPath };
      const { agent } = await buildApp(options, (app) => app.use(watch));
      await emptyTables(site, 'names');
      await Name.create({ name: 'first' });
      for (const [verb, path, route] of REQUESTS) {
        seen.length = 0;
        const hasBody = verb === 'post' || verb === 'patch';
        await (hasBody ? agent[verb](path).send({ name: 'x' }) : agent[verb](path));
        while (seen.length < 2) await sleep(2);
        expect(seen, `${verb} ${path}`).to.deep.equal([route, route]);
      }
      while (later.length === 0) await sleep(2);
      expect(later.splice(0)).to.deep.equal(['/names/late']);
    });
  }
});
