/** Parts that the programs of all generated clients share: the requests that each sends, and the answers that it expects. */
declare const process: { readonly env: Readonly<Record<string, string | undefined>> };

export const ATLAS_URL = process.env['ATLAS_URL'] ?? 'http://localhost:3000';

export const PARIS = 2988507;
export const LARGE = 'countryCode==FRA;population>=450000';
export const NEW = { cityId: PARIS, author: 'Ann', rating: 4 };
/** A city, which a resource with `createMany` creates alone or among others. */
export const HAVEN = {
  id: 1,
  name: 'Haven',
  countryCode: 'FRA',
  latitude: 1,
  longitude: 1,
  featureCode: 'PPL',
};
/** The document has no rule against a NUL, and no text of PostgreSQL has one. */
export const WRONG = { ...NEW, author: 'A\u0000' };

export function expect(description: string, found: unknown, expected: unknown): void {
  const [shown, wanted] = [found, expected].map((each) => JSON.stringify(each));
  if (shown !== wanted) throw new Error(`${description}: ${shown}, and not ${wanted}`);
}
