/** Which path the routes of a test take: every feature is tested on both. */

/** CRUD_TEST_PATH=general forces the general path. */
const isGeneral = process.env['CRUD_TEST_PATH'] === 'general';

/** The option of `bootstrap`. */
export function pathOption(): { fastPath?: boolean } {
  return isGeneral ? { fastPath: false } : {};
}

/** What is expected on the path that is being tested. */
export function onPath<T>(expected: { readonly fast: T; readonly general: T }): T {
  return isGeneral ? expected.general : expected.fast;
}
