/** The settings of each request, by which the row security of PostgreSQL identifies the client. */

import type { Request, RequestHandler } from 'express';
import type { RowSecurityOptions } from '../declare/access-options.js';
import type { RowSecurityCheck } from '../inspect/check-row-security.js';
import { RefusedRequestError } from '../operation/refused-request-error.js';
import { type RequestSettings, runWithSettings, settingsOf } from '../postgres/index.js';
import { showValue } from '../util/option-problems.js';
import { isPromise } from '../util/promises.js';
import { guarded } from './evaluate-rules.js';

const SETTINGS = Symbol('settings');

/** A property, as the resource of a request is. */
interface SettingRequest extends Request {
  [SETTINGS]?: { readonly by: RowSecurity; readonly settings: RequestSettings };
}

/** The settings of a request that was asked for them; null where the application has none. */
export function requestSettings(request: SettingRequest): RequestSettings | null {
  return request[SETTINGS]?.settings ?? null;
}

/** Row security, of one application. */
export class RowSecurity {
  readonly #options: RowSecurityOptions;
  readonly #check: RowSecurityCheck;

  constructor(options: RowSecurityOptions, check: RowSecurityCheck) {
    this.#options = options;
    this.#check = check;
  }

  /**
   * Evaluates the settings of a request, once, and refuses one that has none with 403.
   *
   * @param isAmbient whether code of the user's takes part, whose queries are to have them
   */
  handler(isAmbient: boolean): RequestHandler {
    return (request: SettingRequest, _response, next) => {
      const goOn = (settings: RequestSettings): void => {
        request[SETTINGS] = { by: this, settings };
        if (isAmbient) runWithSettings(settings, next);
        else next();
      };
      const known = request[SETTINGS];
      const settings = known?.by === this ? known.settings : this.#ask(request);
      return isPromise(settings) ? settings.then(goOn, next) : goOn(settings);
    };
  }

  #ask(request: Request): RequestSettings | Promise<RequestSettings> {
    if (!this.#check.isDone) return this.#check.pass().then(() => this.#ask(request));
    const answer = guarded(this.#options.settings, request);
    return isPromise(answer) ? answer.then(settingsFrom) : settingsFrom(answer);
  }
}

/** Two parts at least, as PostgreSQL takes them for settings of an application. */
const NAME = /^[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)+$/;

/** @throws RefusedRequestError 403 where something is missing; TypeError, which shows no value */
function settingsFrom(answer: unknown): RequestSettings {
  if (answer === null || answer === undefined) throw denied();
  if (typeof answer !== 'object' || Array.isArray(answer))
    throw new TypeError('rls.settings gave no object; use one such as { "app.tenant_id": "7" }.');
  const entries = Object.entries(answer);
  if (entries.length === 0) throw new TypeError('rls.settings gave an object without a setting.');
  return settingsOf(entries.map(([name, value]) => [name, checked(name, value)] as const));
}

function checked(name: string, value: unknown): string {
  if (!NAME.test(name))
    throw new TypeError(
      `rls.settings gave ${showValue(name)}, which is no name of a setting; use one with a dot, such as app.tenant_id.`,
    );
  if (value === null || value === undefined) throw denied();
  if (typeof value !== 'string' || value.includes('\0'))
    throw new TypeError(
      `rls.settings gave '${name}' something else than a text; write it as one, such as String(id).`,
    );
  return value;
}

function denied(): RefusedRequestError {
  return new RefusedRequestError(403, 'This request has no access.');
}
