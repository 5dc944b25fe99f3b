import { expect } from 'chai';
import {
  type Access,
  type AccessForm,
  allowsValue,
  closedAttributes,
  OPEN_ACCESS,
  perForm,
  presetOf,
  type ScopeMode,
} from '../../../src/operation/access.js';

const FORM: AccessForm = {
  ...OPEN_ACCESS.form,
  scope: new Map<string, ScopeMode>([
    ['tenant', 'one'],
    ['team', 'several'],
    ['region', 'any'],
  ]),
  unwritable: new Set(['wage']),
};
const ACCESS: Access = {
  ...OPEN_ACCESS,
  form: FORM,
  values: () =>
    new Map([
      ['tenant', [1]],
      ['team', [1, '2']],
    ]),
};

describe('the access of a request', () => {
  it('without rules is to everything', () => {
    const { form, where, slots, references } = OPEN_ACCESS;
    expect(form).to.deep.equal({
      scope: new Map(),
      where: null,
      unreadable: new Set(),
      unwritable: new Set(),
    });
    expect({ where, slots, references }).to.deep.equal({ where: null, slots: {}, references: [] });
    expect(OPEN_ACCESS.digest()).to.equal('');
    expect([...OPEN_ACCESS.values()]).to.deep.equal([]);
    for (const each of [OPEN_ACCESS, form, slots, references]) expect(each).to.be.frozen;
  });

  it('closes attributes of which there is no choice, and each scoped one once there is a row', () => {
    expect([...closedAttributes(FORM, 'create')]).to.deep.equal(['tenant', 'wage']);
    expect([...closedAttributes(FORM, 'update')]).to.deep.equal(['tenant', 'team', 'region', 'wage']);
  });

  it('gives new rows the value of which there is no choice', () => {
    expect(['tenant', 'team', 'region', 'wage'].map((name) => presetOf(ACCESS, name))).to.deep.equal([
      1,
      undefined,
      undefined,
      undefined,
    ]);
    expect(presetOf({ ...ACCESS, values: () => new Map() }, 'tenant')).to.equal(undefined);
  });

  it('allows the values that it has, as numbers or as texts', () => {
    for (const value of ['1', 1, 1n, '2', 2]) expect(allowsValue(ACCESS, 'team', value)).to.equal(true);
    for (const value of [3, '01', '', null, undefined, Number.NaN, [1]]) {
      expect(allowsValue(ACCESS, 'team', value)).to.equal(false);
      expect(allowsValue(ACCESS, 'wage', value)).to.equal(false);
      expect(allowsValue(ACCESS, 'region', value)).to.equal(true);
    }
  });

  it('has what is made of its form made once', () => {
    let made = 0;
    const of = perForm((form) => {
      made += 1;
      return { form };
    });
    const copy = { ...FORM };
    const results = [OPEN_ACCESS.form, FORM, copy, FORM, OPEN_ACCESS.form, copy].map(of);
    expect(results.map(({ form }) => form)).to.deep.equal([
      OPEN_ACCESS.form,
      FORM,
      copy,
      FORM,
      OPEN_ACCESS.form,
      copy,
    ]);
    expect(results[1]).to.equal(results[3]).and.not.to.equal(results[2]);
    expect(made).to.equal(3);
  });
});
