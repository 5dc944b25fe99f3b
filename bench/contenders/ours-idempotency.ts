/** Ours where each write has an `Idempotency-Key` of its own. A request of the load is sent again and again, so the keys are made here. */
import { serveApplication } from './support/ours.js';

let writes = 0;

void serveApplication({
  engine: { createAll: true },
  bootstrap: { idempotency: { principal: () => 'bench' } },
  prepare: (app) =>
    app.use((request, _response, next) => {
      writes += 1;
      if (request.method !== 'GET') request.headers['idempotency-key'] = `${process.pid}-${writes}`;
      next();
    }),
});
