/** Ours on the general path: every write goes through Sequelize, as it does for models with hooks. */
import { serveWrites } from './ours-application.js';

void serveWrites({ fastPath: false });
