/** A Feathers application on Koa, as its generator makes one. */
import { type Application, feathers } from '@feathersjs/feathers';
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa';
import { HOST, PORT } from './environment.js';

/** Option of the service for lists with a total. Without it a service does not count. */
export const PAGINATE = { default: 20, max: 1_000 };

/** Serves one service without a total and one with. */
export async function serveFeathers(
  articles: object,
  countedArticles: object,
  hooks: object = {},
): Promise<void> {
  const app = koa(feathers());
  app.use(errorHandler());
  app.use(bodyParser());
  app.configure(rest());
  use(app, 'articles', articles);
  use(app, 'counted-articles', countedArticles);
  app.service('articles').hooks(hooks as never);
  await app.listen(PORT, HOST);
}

/** The types of the adapters and of the application do not fit together. */
function use(app: Application, path: string, service: object): void {
  app.use(path, service as never);
}
