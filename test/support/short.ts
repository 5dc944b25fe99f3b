/** Some tests are whole where they are run alone, and shorter in `npm test`, which has eight minutes. `npm test -- --whole` leaves nothing out. */
const isShort = process.env['CRUD_TEST_SHORT'] === '1';

/** How much of a test is done. */
export function wholeOr<T>(short: T, whole: T): T {
  return isShort ? short : whole;
}
