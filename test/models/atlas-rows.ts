/** Rows of the sample atlas. */

export const FRANCE = {
  code: 'FRA',
  alpha2: 'FR',
  name: 'France',
  officialName: 'French Republic',
  region: 'Europe',
  area: '551695.00',
  latitude: 46,
  longitude: 2,
  flag: '🇫🇷',
};

/** A city of France. */
export const LYON = {
  id: 1,
  name: 'Lyon',
  countryCode: 'FRA',
  population: 1,
  latitude: 48,
  longitude: 2,
  featureCode: 'PPL',
};

/** A review of it, without its key. */
export const REVIEW = { cityId: 1, author: 'Ann', rating: 3, text: 'It rained.' };
