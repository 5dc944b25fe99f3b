/** The sample `tenants`, as its user meets it: a process, and the commands of its README with the answers that it shows. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';

const MAIN = join(__dirname, '../../sample/tenants/main.js');

/** Sends what a command of the README sends. */
async function run(command: string, host: string): Promise<string> {
  const [, path = ''] = / localhost:3000(\S+)/.exec(command) ?? [];
  const [, authorization = ''] = / -H 'Authorization: ([^']+)'/.exec(command) ?? [];
  const [, body] = / --json '([^']+)'/.exec(command) ?? [];
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const response = await fetch(`http://${host}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: authorization, ...type },
    ...(body === undefined ? {} : { body }),
  });
  return response.text();
}

describe('the sample tenants', function () {
  this.timeout(30_000);
  let database: TestDatabase;
  let site: ChildProcess;
  let host = '';

  before(async () => {
    database = await freshDatabase('tenants');
    site = spawn(process.execPath, [MAIN], {
      env: { ...process.env, DATABASE_URL: database.url, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    site.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    while (!output.includes('Ctrl-C ends it.')) {
      if (site.exitCode !== null) throw new Error(`The sample has ended: ${output}`);
      await Promise.race([once(site.stdout ?? site, 'data'), once(site, 'close')]);
    }
    host = /localhost:\d+/.exec(output)?.[0] ?? '';
  });

  after(async () => {
    if (site.exitCode === null) {
      site.kill('SIGINT');
      await once(site, 'close');
    }
    await database.drop();
  });

  it('answers what its README shows', async () => {
    const text = await readFile(join(PACKAGE_ROOT, 'sample/tenants/README.md'), 'utf8');
    const examples = [...text.matchAll(/```sh\n(curl [^`]*)```\n\n```json\n([^`]*)```/g)];
    expect(examples).to.have.lengthOf(5);
    for (const [, commands = '', shown = ''] of examples) {
      const answers: string[] = [];
      for (const command of commands.trim().split('\n')) answers.push(await run(command, host));
      expect(answers.join('\n')).to.equal(shown.trim());
    }
  });
});
