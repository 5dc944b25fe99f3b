/** The sample `tenants`, as its user meets it: a process, and the commands of its README with the answers that it shows. */
// @runs fast
import { join } from 'node:path';
import { expect } from 'chai';
import { forSuite } from '../../support/for-suite.js';
import { freshDatabase } from '../../support/postgres.js';
import { Program } from '../../support/program.js';
import { consoleExamples, readmeBlocks, runCurl } from '../../support/readme-examples.js';

const MAIN = join(__dirname, '../../../sample/tenants/main.js');

describe('the sample tenants', () => {
  const database = forSuite(() => freshDatabase('tenants'));
  const site = forSuite(
    () => new Program([MAIN], { env: { ...process.env, DATABASE_URL: database.url, PORT: '0' } }),
  );
  let base = '';

  before(async () => {
    await site.untilPrinted('Ctrl-C ends it.');
    base = /http:\/\/localhost:\d+/.exec(site.output)?.[0] ?? '';
  });

  const blocks = readmeBlocks(
    'run by test/feature/samples/see-one-organisation.test.ts',
    'sample/tenants/README.md',
  );
  for (const { command, output } of blocks.flatMap(consoleExamples)) {
    it(`answers as its README shows to ${command}`, async () => {
      expect(await runCurl(command, base)).to.equal(output);
    });
  }

  it('has no body with what the server sets, and documents who may be refused', async () => {
    const document = (await (await fetch(`${base}/openapi.json`)).json()) as {
      components: { schemas: Record<string, { properties: object; required?: string[] }> };
    };
    const { TaskCreate, TaskUpdate, ProjectCreate, ProjectRead } = document.components.schemas;
    expect(TaskCreate?.properties).to.have.all.keys('projectId', 'title', 'author', 'isDraft');
    expect(TaskCreate?.required).to.deep.equal(['projectId', 'title', 'author']);
    expect(TaskUpdate?.properties).to.have.all.keys('projectId', 'title', 'author', 'isDraft');
    expect(ProjectCreate?.properties).to.have.all.keys('name', 'budget');
    expect(ProjectRead?.required).to.deep.equal(['id', 'organisationId', 'name']);
  });
});
