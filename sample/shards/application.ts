/** The application: one connection string, as for one server. */

import type { AddressInfo } from 'node:net';
import { type BootstrapOptions, bootstrap, EVERYTHING, engineLifespan, serve } from 'crud-controllers';
import express, { type Request } from 'express';
import { Line, Order } from './models.js';

const models = [Order, Line];

/** The sample takes the tenant from a header, without a sign-in; `all` is an operator. */
const tenant = (request: Request) => {
  const named = request.get('Tenant');
  return named === 'all' ? EVERYTHING : named && Number(named);
};

/** Listens on the port, or on a free one where it is 0. A signal stops it; code that closes the server disposes the engine, too. */
export async function startApplication(url: string, port: number, options: Partial<BootstrapOptions> = {}) {
  const app = express();
  const engine = await engineLifespan(url, { models })(app);
  await bootstrap(app, { models, scope: { tenantId: tenant }, ...options });
  const server = await serve(app, { port, lifespan: async () => engine });
  return { url: `http://localhost:${(server.address() as AddressInfo).port}`, server, engine };
}
