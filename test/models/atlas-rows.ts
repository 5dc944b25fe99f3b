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
