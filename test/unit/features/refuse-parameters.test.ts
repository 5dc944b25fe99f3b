import { expect } from 'chai';
import { OPEN_ACCESS } from '../../../src/operation/access.js';
import { InvalidQueryError } from '../../../src/schema/request-issue.js';
import { caughtError } from '../../support/caught-error.js';
import { featuresOf } from '../../support/offline-features.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const City = defineModel('City');
const features = featuresOf(planOf(City));
const ignoring = featuresOf(planOf(City, { unknownQuery: 'ignore' }));

describe('the query string of a route', () => {
  it('lets a query string without parameters pass', () => {
    expect(features.delete.readQuery('/cities/1?', OPEN_ACCESS)).to.deep.equal({});
  });

  it('lets accepted parameters pass', () => {
    expect(features.read.readQuery('/cities/1?fields=id', OPEN_ACCESS)).to.deep.equal({ fields: ['id'] });
  });

  it('refuses any parameter of a route that reads none', async () => {
    const query = `/cities/1?expand=1&${'x'.repeat(50)}&a=1&a=2`;
    const error = await caughtError(() => features.delete.readQuery(query, OPEN_ACCESS));
    expect(error).to.be.instanceOf(InvalidQueryError);
    expect((error as InvalidQueryError).errors).to.deep.equal([
      { parameter: 'a', code: 'repeated', detail: "Parameter 'a' may be given once." },
      {
        parameter: 'expand',
        code: 'unknown',
        detail: "This route has no parameter 'expand'. It accepts none.",
      },
      {
        parameter: 'x'.repeat(50),
        code: 'unknown',
        detail: `This route has no parameter '${'x'.repeat(40)}…'. It accepts none.`,
      },
      { parameter: 'a', code: 'unknown', detail: "This route has no parameter 'a'. It accepts none." },
    ]);
  });

  it('lets all pass where the resource ignores them', () => {
    expect(ignoring.delete.readQuery('/cities/1?expand=1&a=1&a=2&b=%FF', OPEN_ACCESS)).to.deep.equal({});
  });
});
