/** The modes of the command line: applications start as far as they can be described, without a database, or wholly; neither listens by itself. */

let mode: 'describe' | 'start' | null = null;
let hasBegun = false;

/** From now on no application of this process reaches a database. */
export function goOffline(): void {
  mode = 'describe';
}

/** From now on applications of this process start for a command. */
export function startForCommand(): void {
  mode = 'start';
}

/** True where applications are only described. */
export function isOffline(): boolean {
  return mode === 'describe';
}

/** True in the process of a command. */
export function isForCommand(): boolean {
  return mode !== null;
}

/** Notes that an application begins to start. It will call `bootstrap`. */
export function noteStart(): void {
  hasBegun = true;
}

/** True from the first start on. */
export function isStarting(): boolean {
  return hasBegun;
}
