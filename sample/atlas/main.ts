/** Serves the countries and cities of the world, and reviews of the cities, from a PostgreSQL of its own. */
import 'reflect-metadata';
import { bootstrap, engineLifespan } from 'crud-controllers';
import express from 'express';
import { openDatabase } from './database.js';
import { checkPort, choosePort, listen } from './listen.js';
import { showProgress } from './progress.js';
import { City, CityController, Country, Review, ReviewController } from './resources.js';
import { complain, say } from './say.js';
import { seed } from './seed.js';
import { listenForStop, untilStopped } from './stop-signal.js';

const models = [Country, City, Review];
const DESCRIPTION =
  'The countries and cities of the world, and reviews of the cities. Cities are from [GeoNames](https://www.geonames.org) ' +
  '(CC BY 4.0), countries from [mledoze/countries](https://github.com/mledoze/countries) (ODbL 1.0).';

async function main(stop: AbortSignal): Promise<void> {
  const port = choosePort();
  await checkPort(port);
  const app = express();

  say('Opening the database');
  await using database = await openDatabase();
  await using engine = await engineLifespan(database.url, { models, createAll: true, logging: false })(app);

  const progress = showProgress('Loading cities');
  await seed(engine.sequelize, { onProgress: progress.update, signal: stop }).finally(progress.stop);

  await bootstrap(app, {
    models,
    controllers: [CityController, ReviewController],
    docs: { title: 'Atlas', description: DESCRIPTION },
  });
  await using server = await listen(app, port);
  announce(server.url);

  await untilStopped(stop);
  say('Stopping');
}

function announce(url: string): void {
  const paths = [
    '/docs',
    '/countries/FRA',
    '/cities?page=2&size=3',
    '/cities?q=countryCode==FRA;population>200000&sort=-population&fields=name,population',
    '/cities/2988507',
    '/cities/2988507/reviews/summary',
    '/reviews',
  ];
  say(`The atlas is open:\n${paths.map((path) => `  ${url}${path}`).join('\n')}\nCtrl-C closes it.`);
}

const stop = listenForStop();
main(stop).catch((error: unknown) => {
  // The loading that was under way has failed on purpose.
  if (error === stop.reason) return;
  complain(error);
  process.exitCode = 1;
});
