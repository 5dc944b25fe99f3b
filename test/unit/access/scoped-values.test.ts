import { expect } from 'chai';
import { checkScopedValues, checkSentNames } from '../../../src/access/reference-access.js';
import { type Access, OPEN_ACCESS, type ScopeMode } from '../../../src/operation/access.js';
import { InvalidBodyError } from '../../../src/schema/request-issue.js';

function accessOf(scope: Readonly<Record<string, ScopeMode>>, unwritable: readonly string[] = []): Access {
  const values = new Map(Object.keys(scope).map((name) => [name, [1, 2]]));
  const form = {
    ...OPEN_ACCESS.form,
    scope: new Map(Object.entries(scope)),
    unwritable: new Set(unwritable),
  };
  return { ...OPEN_ACCESS, form, values: () => values };
}

/** Problems of a body, as pointers and codes; empty where it has none. */
async function wrong(work: () => unknown): Promise<readonly string[]> {
  try {
    await work();
    return [];
  } catch (error) {
    if (!(error instanceof InvalidBodyError) || error.errors.length === 0) throw error;
    return error.errors.map(({ code, ...issue }) => `${'pointer' in issue && issue.pointer} ${code}`);
  }
}

describe('values of scoped attributes', () => {
  for (const [mode, kind, value, codes] of [
    ['one', 'create', undefined, []],
    ['one', 'create', 1, ['/team readOnly']],
    ['one', 'update', undefined, []],
    ['one', 'update', 1, ['/team readOnly']],
    ['several', 'create', undefined, ['/team isDefined']],
    ['several', 'create', 2, []],
    ['several', 'create', 3, ['/team scope']],
    ['several', 'create', null, ['/team scope']],
    ['several', 'update', undefined, []],
    ['several', 'update', 1, ['/team readOnly']],
    ['any', 'create', undefined, []],
    ['any', 'create', 3, []],
    ['any', 'create', null, []],
    ['any', 'update', 1, ['/team readOnly']],
  ] as const) {
    const outcome = codes.length > 0 ? 'refused' : 'taken';
    it(`are ${outcome}: ${value} by ${kind}, of ${mode}`, async () => {
      const check = () => checkScopedValues(kind, { team: value }, accessOf({ team: mode }));
      expect(await wrong(check)).to.deep.equal(codes);
    });
  }

  it('may not be sent where the request may not set them, whatever reads the body', async () => {
    const { form } = accessOf({}, ['wage', 'note']);
    for (const body of [{ name: 'a' }, undefined, null, 'wage', [], [{ name: 'a' }]]) {
      expect(await wrong(() => checkSentNames(body, form))).to.deep.equal([]);
    }
    expect(await wrong(() => checkSentNames({ note: null, wage: 1 }, form))).to.deep.equal([
      '/wage readOnly',
      '/note readOnly',
    ]);
    expect(await wrong(() => checkSentNames([{ name: 'a' }, { wage: 1 }], form))).to.deep.equal([
      '/wage readOnly',
    ]);
  });
});
