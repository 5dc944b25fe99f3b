/** Ours with row security: each statement has the setting that the policy of the table reads. */
import { Client } from 'pg';
import { readEnvironment } from './support/environment.js';
import { serveApplication } from './support/ours.js';

/** One that policies hold back. The other contenders are the owner of the table, for whom they do not hold. */
const ROLE = 'bench_rls';
/** The server is made for the run, and listens on this machine alone. */
const PASSWORD = 'bench';

/** Requests of as many users, so that hardly two at the same time have the same settings, and may share a transaction. */
const USERS = 1_000;

const SET_UP = `
  DO $do$ BEGIN CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'; EXCEPTION WHEN duplicate_object THEN NULL; END $do$;
  GRANT ALL ON ALL TABLES IN SCHEMA public TO ${ROLE};
  GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${ROLE};
  ALTER TABLE articles ENABLE ROW LEVEL SECURITY;
  DROP POLICY IF EXISTS tenant ON articles;
  CREATE POLICY tenant ON articles TO ${ROLE}
    USING ((SELECT nullif(current_setting('app.tenant_id', true), '')) = '1')`;

async function start(): Promise<void> {
  const environment = readEnvironment();
  const owner = new Client({ connectionString: environment.databaseUrl });
  await owner.connect();
  await owner.query(SET_UP);
  await owner.end();
  let requests = 0;
  const settings = () => {
    requests += 1;
    return { 'app.tenant_id': '1', 'app.user_id': String(requests % USERS) };
  };
  const url = new URL(environment.databaseUrl);
  Object.assign(url, { username: ROLE, password: PASSWORD });
  await serveApplication({ bootstrap: { rls: { settings } } }, url.href);
}

void start();
