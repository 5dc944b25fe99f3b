import { expect } from 'chai';
import { documentPath, shownParameters, templateShape } from '../../../src/openapi/openapi-object.js';

describe('documentPath', () => {
  const paths: readonly (readonly [path: string, template: string, ...parameters: string[]])[] = [
    ['/cities', '/cities'],
    ['/', '/'],
    ['/cities/', '/cities'],
    ['/cities/:id', '/cities/{id}', 'id'],
    ['/cities/:id/reviews/:reviewId', '/cities/{id}/reviews/{reviewId}', 'id', 'reviewId'],
    ['/cities/:id(\\d+)', '/cities/{id}', 'id'],
    ['/files/:name.:extension', '/files/{name}.{extension}', 'name', 'extension'],
  ];
  for (const [path, template, ...parameters] of paths) {
    it(`writes ${path}`, () => expect(documentPath(path)).to.deep.equal({ template, parameters }));
  }

  for (const path of ['/cities/:id?', '/files/*', '/files/*path', '/cities{/:id}', '/a(b)', /^\/x/]) {
    it(`has no words for ${path}`, () => expect(documentPath(path)).to.equal(undefined));
  }
});

describe('templateShape', () => {
  it('is the same for paths that differ in the names of their parameters', () => {
    expect(templateShape('/a/{id}/b/{key}')).to.equal(templateShape('/a/{key}/b/{id}'));
    expect(templateShape('/a/{id}')).to.not.equal(templateShape('/a/{id}/b'));
  });
});

describe('shownParameters', () => {
  it('takes the names of the path that was there first', () =>
    expect(shownParameters({ template: '/a/{key}', parameters: ['key'] }, '/a/{id}')).to.deep.equal([
      { name: 'key', shownAs: 'id' },
    ]));
});
