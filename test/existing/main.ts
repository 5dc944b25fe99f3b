/** `npm run existing -- [--few N] [postgres://…]`: drives the three schemas of this folder, or a copy of each database that is named. */
import 'reflect-metadata';
import process from 'node:process';
import { say } from '../../bench/say.js';
import { startPostgres } from '../support/postgres.js';
import { copyOf, type DrivenDatabase, SCHEMAS, withSchema } from './databases.js';
import { drive, type Report } from './run.js';

/** Differences of a model that are printed. */
const SHOWN = 3;

async function main(args: readonly string[]): Promise<void> {
  const at = args.indexOf('--few');
  const few = at < 0 ? Infinity : Number(args[at + 1]);
  const named = args.filter((_, place) => at < 0 || (place !== at && place !== at + 1));
  const targets: [string, () => Promise<DrivenDatabase>][] = [];
  for (const arg of named.length > 0 ? named : SCHEMAS) {
    const own = SCHEMAS.find((name) => name === arg);
    targets.push(own ? [own, () => withSchema(own)] : [new URL(arg).pathname.slice(1), () => copyOf(arg)]);
  }
  const reports: [string, Report, number][] = [];
  for (const [name, open] of targets) {
    await using database = await open();
    const started = performance.now();
    const report = await drive(database.url, few);
    reports.push([name, report, performance.now() - started]);
    tell(name, report);
  }
  say(
    '\n| schema | models | right | requests | differences | left out | seconds |\n| --- | --- | --- | --- | --- | --- | --- |',
  );
  for (const [name, { models, right, requests, differences, leftOut }, time] of reports)
    say(
      `| ${name} | ${models} | ${right} | ${requests} | ${differences.length} | ${leftOut.length} | ${(time / 1000).toFixed(0)} |`,
    );
  if (reports.some(([, { differences }]) => differences.length > 0)) process.exitCode = 1;
  if (named.length === 0 || named.some((arg) => !arg.startsWith('postgres')))
    await (await startPostgres()).stop();
}

function tell(name: string, { differences, leftOut, warnings, empty }: Report): void {
  say(`\n# ${name}`);
  for (const each of leftOut) say(`left out: ${each}`);
  if (empty.length > 0) say(`without rows: ${empty.join(', ')}`);
  for (const each of warnings) say(`told: ${each.slice(0, 400)}`);
  const shown = new Map<string, number>();
  for (const each of differences) {
    const model = each.split(' ', 1).join();
    shown.set(model, (shown.get(model) ?? 0) + 1);
    if ((shown.get(model) ?? 0) <= SHOWN) say(`difference: ${each}`);
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exitCode = 1;
});
