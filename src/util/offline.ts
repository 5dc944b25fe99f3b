/** The mode of the command line: applications start as far as they can be described, without a database, and serve nothing. */

let isOn = false;
let hasBegun = false;

/** From now on no application of this process reaches a database. */
export function goOffline(): void {
  isOn = true;
}

/** True where applications are only described. */
export function isOffline(): boolean {
  return isOn;
}

/** Notes that an application begins to start. It will call `bootstrap`. */
export function noteStart(): void {
  hasBegun = true;
}

/** True from the first start on. */
export function isStarting(): boolean {
  return hasBegun;
}
