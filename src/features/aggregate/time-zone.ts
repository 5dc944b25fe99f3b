/** Names of time zones in `tz`: those of IANA. PostgreSQL takes `+05:30` and `EST5EDT` for POSIX zones, whose signs are reversed. */

let known: ReadonlySet<string> | undefined;

/** Words between slashes: no digits, and no offset. */
const AREA_AND_PLACE = /^[A-Z][A-Za-z]+(?:\/[A-Z][A-Za-z_-]+)+$/;

/** True for the name of a zone that has days. */
export function isTimeZone(name: string): boolean {
  known ??= new Set(['UTC', ...Intl.supportedValuesOf('timeZone')]);
  if (known.has(name)) return true;
  if (name.length > 64 || !AREA_AND_PLACE.test(name)) return false;
  // Another name of a listed zone, such as Asia/Kolkata.
  try {
    return known.has(new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone);
  } catch {
    return false;
  }
}
