/** Starts three servers, and the application before the first one. */
import 'reflect-metadata';
import { once } from 'node:events';
import { startApplication } from './application.js';
import { startShards } from './servers.js';

async function main(): Promise<void> {
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await using cluster = await startShards();
  const [front] = cluster.shards;
  const application = await startApplication(front?.url ?? '', Number(process.env['PORT'] ?? 3000));
  process.stdout.write(`Orders of six tenants on three servers: ${application.url}/orders\n`);
  for (const { url, tenants } of cluster.shards)
    process.stdout.write(`  tenants ${tenants.join(' and ')}: psql '${url}'\n`);
  process.stdout.write('Ctrl-C ends it.\n');
  await stopped;
  if (application.server.listening) await once(application.server, 'close');
}

void main();
