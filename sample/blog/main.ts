/** Serves a blog by a contract that is not ours, on the PostgreSQL of DATABASE_URL or one that is gone at the end. */
import 'reflect-metadata';
import { once } from 'node:events';
import { bootstrap, engineLifespan, serve } from 'crud-controllers';
import express from 'express';
import { openDatabase } from '../support/open-database.js';
import { contract, Enveloper } from './contract.js';
import { ArticleController, UserController } from './controllers.js';
import { Article, Comment, Follow, Like, User } from './models.js';
import { problem } from './problem.js';
import { signIn } from './sign-in.js';

const models = [User, Article, Comment, Like, Follow];

async function main(): Promise<void> {
  const app = express();
  await using database = await openDatabase('blog');
  await using _engine = await engineLifespan(database.url, { models, createAll: true })(app);
  app.use('/api', signIn, contract);
  await bootstrap(app, {
    models: [User, Article, Comment],
    controllers: [UserController, ArticleController],
    routePrefix: '/api',
    routing: { interceptors: [Enveloper] },
    problem,
  });
  const server = await serve(app, { port: Number(process.env['PORT'] ?? 3000) });
  await once(server, 'close');
}

void main();
