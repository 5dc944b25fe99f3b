/** Ours with every request through Sequelize. */
import { serveQueries } from './ours-application.js';

void serveQueries({ fastPath: false });
