/** Some tests are whole where they are run alone, and shorter in `npm test`, which has seven minutes. `npm test -- --whole` leaves nothing out. */
const isShort = process.env['CRUD_TEST_SHORT'] === '1';

/** The whole of a test, or its short form. */
export function wholeOr<T>(short: T, whole: T): T {
  return isShort ? short : whole;
}

/** A test that `npm test` leaves out: it takes seconds, and a likely fault breaks another test, too. */
export function itWhole(title: string, test: Mocha.AsyncFunc): void {
  (isShort ? it.skip : it)(title, test);
}
