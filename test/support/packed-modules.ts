/** Loads what nearly all processes of the tests load: `scripts/quick-start.cjs` writes it into a pack. */
import '../../src/load-application.js';
import '../../src/scaffold/model-files.js';
import '../../src/index.js';
import './mocha-hooks.js';
import 'mocha';
import 'chai';
import 'supertest';
