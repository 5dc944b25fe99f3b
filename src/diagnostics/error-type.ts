/** Classifies the error of a statement or a request, without its message, which may hold values. */

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** The SQLSTATE, or the class: `error.type` of OpenTelemetry's conventions, which call what is no error `_OTHER`. */
export function errorType(error: unknown): string {
  const { code, original } = (error ?? {}) as {
    readonly code?: unknown;
    readonly original?: { readonly code?: unknown };
  };
  const state = code ?? original?.code;
  if (typeof state === 'string' && SQLSTATE.test(state)) return state;
  return error instanceof Error ? error.name : '_OTHER';
}
