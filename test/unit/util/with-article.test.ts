/** The article of names of models. */
import { expect } from 'chai';
import { withArticle } from '../../../src/util/with-article.js';

const PHRASES =
  'a user, a User, a unit, a utility bill, a usage record, a European city, a one-time code, a review, a House, ' +
  'an article, an Article, an image, an order, an update, an upload, an uninvited guest, an hour, an Honour, an onerous task, ' +
  'an SKU, an FAQItem, an MRIScan, a URL, a UIElement, a PDFFile';

describe('the article of a name', () => {
  for (const phrase of PHRASES.split(', ')) {
    it(`is that of ${phrase}`, () => expect(withArticle(phrase.replace(/^an? /, ''))).to.equal(phrase));
  }

  it('follows the capitals of the name, which its words have not', () =>
    expect(withArticle('sku', 'SKU')).to.equal('an sku'));
});
