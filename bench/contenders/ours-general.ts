/** Ours on the general path: every request goes through Sequelize, as it does for models with hooks or getters. */
import { serveApplication } from './support/ours.js';

void serveApplication({ bootstrap: { fastPath: false } });
