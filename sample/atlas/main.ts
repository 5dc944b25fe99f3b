/** Serves the countries and cities of the world, and reviews of the cities, from a PostgreSQL of its own. */
import 'reflect-metadata';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bootstrap, disposeEngine, engineLifespan, serve } from 'crud-controllers';
import express, { type Express } from 'express';
import { isAdminBuilt, serveAdmin } from './admin.js';
import { openDatabase } from './database.js';
import { checkPort, choosePort } from './port.js';
import { showProgress } from './progress.js';
import {
  City,
  CityController,
  Country,
  Review,
  ReviewController,
  Stop,
  Theme,
  Trip,
  TripTheme,
} from './resources.js';
import { complain, say } from './say.js';
import { seed } from './seed.js';
import { StopSignal } from './stop-signal.js';

const served = [Country, City, Review, Trip, Stop, Theme];
const models = [...served, TripTheme];
const DESCRIPTION =
  'The countries and cities of the world, and reviews of the cities. Cities are from [GeoNames](https://www.geonames.org) ' +
  '(CC BY 4.0), countries from [mledoze/countries](https://github.com/mledoze/countries) (ODbL 1.0).';

async function main(): Promise<void> {
  const port = choosePort();
  await checkPort(port);
  // For the start alone. An open atlas is stopped by `serve`.
  using stop = new StopSignal();
  const server = await serve(express(), { port, lifespan: (app) => openAtlas(app, stop.signal) }).catch(
    (error: unknown) => {
      // The start that was under way has failed on purpose.
      if (error !== stop.signal.reason) throw error;
    },
  );
  // A closed terminal sends SIGHUP; `serve` stops at SIGINT and SIGTERM.
  process.on('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
  if (server) announce(server);
}

/** Disposing the result closes what was opened, when the last request is answered. */
async function openAtlas(app: Express, signal: AbortSignal): Promise<AsyncDisposable> {
  say('Opening the database');
  const database = await openDatabase();
  const close = async (): Promise<void> => {
    await disposeEngine();
    await database[Symbol.asyncDispose]();
  };
  try {
    const engine = await engineLifespan(database.url, { models, createAll: true })(app);
    const progress = showProgress('Loading cities');
    await seed(engine.sequelize, { onProgress: progress.update, signal }).finally(progress.stop);
    serveAdmin(app);
    await bootstrap(app, {
      models: served,
      controllers: [CityController, ReviewController],
      // The atlas has no users, so keys belong to addresses.
      idempotency: { principal: ({ ip }) => ip },
      history: { actor: ({ ip }) => ip },
      docs: { title: 'Atlas', description: DESCRIPTION },
      landing: true,
      metrics: true,
    });
    signal.throwIfAborted();
  } catch (error) {
    await close();
    throw error;
  }
  return { [Symbol.asyncDispose]: () => close().then(() => say('Closed')) };
}

function announce(server: Server): void {
  const { port } = server.address() as AddressInfo;
  const paths = [
    '/',
    '/docs',
    ...(isAdminBuilt() ? ['/admin/'] : []),
    '/countries/FRA',
    '/cities?page=2&size=3',
    '/cities?q=countryCode==FRA;population>200000&sort=-population&fields=name,population',
    '/cities/2988507',
    '/cities?include=country&country.fields=name,flag&fields=name&size=3',
    '/cities?q=country.region==Europe&sort=-population&fields=name,population',
    '/countries/FRA/cities?sort=-population&fields=name,population',
    '/cities/2988507/reviews',
    '/countries/FRA?include=cities&cities.sort=-population&cities.fields=name,population',
    '/cities/2988507/reviews/summary',
    '/reviews',
    '/trips',
    '/metrics',
  ];
  const urls = paths.map((path) => `  http://localhost:${port}${path}`);
  say(`The atlas is open:\n${urls.join('\n')}\nCtrl-C closes it.`);
}

main().catch((error: unknown) => {
  complain(error);
  process.exitCode = 1;
});
