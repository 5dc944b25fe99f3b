import { expect } from 'chai';
import { InvalidQueryError } from '../../../src/query/invalid-query-error.js';
import { parseQueryString } from '../../../src/query/query-string.js';
import { rejectUnknownParameters } from '../../../src/query/unknown-parameters.js';
import { caughtError } from '../../support/caught-error.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const City = defineModel('City');
const plan = planOf(City);
const ignoring = planOf(City, { unknownQuery: 'ignore' });

describe('rejectUnknownParameters', () => {
  it('lets a query string without parameters pass', () => {
    expect(() => rejectUnknownParameters(plan, parseQueryString('/cities/1?'), [])).not.to.throw();
  });

  it('lets accepted parameters pass', () => {
    expect(() => rejectUnknownParameters(plan, parseQueryString('/cities/1?a=1'), ['a'])).not.to.throw();
  });

  it('refuses any parameter of a route that reads none', async () => {
    const query = parseQueryString(`/cities/1?expand=1&${'x'.repeat(50)}&a=1&a=2`);
    const error = await caughtError(() => rejectUnknownParameters(plan, query, []));
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
    const query = parseQueryString('/cities/1?expand=1&a=1&a=2&b=%FF');
    expect(() => rejectUnknownParameters(ignoring, query, [])).not.to.throw();
  });
});
