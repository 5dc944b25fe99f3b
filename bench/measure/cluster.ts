/** Runs a contender in several processes that share a port: the script is the first argument, their number the second. */
import cluster from 'node:cluster';
import { once } from 'node:events';

const [exec = '', count = '1'] = process.argv.slice(2);
cluster.setupPrimary({ exec, args: [] });

async function main(): Promise<void> {
  const workers = Array.from({ length: Number(count) }, () => cluster.fork());
  process.once('SIGTERM', () => {
    for (const worker of workers) worker.kill('SIGTERM');
  });
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  process.exit(0);
}

void main();
