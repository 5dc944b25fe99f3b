/** The types of parameters, which not every compiler emits: the same program, compiled by tsc and by esbuild. */
import { join } from 'node:path';
import { expect } from 'chai';
import { run } from '../package/run.js';
import { PACKAGE_ROOT } from '../support/package-root.js';

const EFFECT = 'is not known; it would be neither converted nor validated.';

describe('the types of parameters', () => {
  const problemsOf = async (...command: readonly string[]): Promise<string[]> =>
    JSON.parse((await run(process.execPath, command, PACKAGE_ROOT)).output);

  it('are missed at the start where tsx has compiled the program', async () => {
    const problems = await problemsOf('--import', 'tsx', join(PACKAGE_ROOT, 'test/support/typed-app.ts'));
    expect(problems.slice(0, -1)).to.deep.equal([
      `MemberController.invite (POST /:id/invite): the type of @Param('id') and @Body() ${EFFECT}`,
      `ReportController.report (GET /reports/): the type of @QueryParam('year') ${EFFECT}`,
    ]);
    expect(problems.at(-1))
      .to.include('tsc with "emitDecoratorMetadata": true')
      .and.include('swc with "decoratorMetadata": true')
      .and.include('@Body({ type: ArticleForm })');
  });

  it('are there where tsc has', async () =>
    expect(await problemsOf(join(__dirname, '../support/typed-app.js'))).to.deep.equal([]));
});
