import { serveSequelize } from './sequelize-library.js';

serveSequelize(true);
