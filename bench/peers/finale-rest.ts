/** finale-rest on Express 4 with Sequelize, as its README puts them together. Its lists always count. */
import express from 'express';
import { HOST, PORT } from './environment.js';
import { Article, sequelize } from './sequelize-article.js';

/** The package has no types. */
interface Finale {
  initialize(options: object): void;
  resource(options: object): void;
}

const finale = require('finale-rest') as Finale;

const app = express();
app.use(express.json());
finale.initialize({ app, sequelize });
finale.resource({ model: Article, endpoints: ['/articles', '/articles/:id'] });
app.listen(PORT, HOST);
