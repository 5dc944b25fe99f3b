/** The settings of each request: those by which the row security of PostgreSQL identifies the client, and those of features. */

import type { Request, RequestHandler } from 'express';
import type { RowSecurityOptions } from '../declare/access-options.js';
import type { RowSecurityCheck } from '../inspect/check-row-security.js';
import { RefusedRequestError } from '../operation/refused-request-error.js';
import type { RouteSettings, SettingsRoute } from '../operation/route-settings.js';
import { type RequestSettings, runWithSettings, settingsOf } from '../postgres/index.js';
import { showValue } from '../util/option-problems.js';
import { all, isPromise, type Maybe, then } from '../util/promises.js';
import { guarded } from './evaluate-rules.js';

const SETTINGS = Symbol('settings');

/** A property, as the resource of a request is. */
interface SettingRequest extends Request {
  [SETTINGS]?: { readonly by: RowSecurity; readonly secured: Settings; readonly settings: RequestSettings };
}

/** The evaluated settings of a request; null where the application has none. */
export function requestSettings(request: SettingRequest): RequestSettings | null {
  return request[SETTINGS]?.settings ?? null;
}

type Settings = readonly (readonly [name: string, value: string])[];

const NO_SETTINGS: Settings = Object.freeze([]);

/** Adds a setting to those of a request, or sets it anew, for all that begins from now on. */
export function addSetting(request: SettingRequest, name: string, value: string): void {
  const known = request[SETTINGS];
  if (known) request[SETTINGS] = { ...known, settings: settingsOf(known.secured, [[name, value]]) };
}

/** Row security, of one application, with the settings that its features add. */
export class RowSecurity {
  readonly #security: { readonly options: RowSecurityOptions; readonly check: RowSecurityCheck } | null;
  readonly #added: readonly RouteSettings[];

  /** @param options null where the application has no row security */
  constructor(
    options: RowSecurityOptions | null,
    check: RowSecurityCheck | null,
    added: readonly RouteSettings[],
  ) {
    this.#security = options && check && { options, check };
    this.#added = added;
  }

  /** False where the settings are those of features alone. */
  get isSecured(): boolean {
    return this.#security !== null;
  }

  /**
   * Evaluates the settings of a request, once, and refuses one that has none with 403. Null where requests of the route need none.
   *
   * @param route with code of the user's, queries of that code have them, too
   */
  handler(route: SettingsRoute): RequestHandler | null {
    const finders = this.#added.flatMap((find) => find(route) ?? []);
    if (!this.#security && finders.length === 0) return null;
    return (request: SettingRequest, _response, next) => {
      const goOn = (secured: Settings, added: Settings): void => {
        const settings = settingsOf(secured, added);
        request[SETTINGS] = { by: this, secured, settings };
        if (route.isAmbient) runWithSettings(settings, next);
        else next();
      };
      const add = (secured: Settings): Maybe<void> => {
        const added = all(finders.map((find) => find(request)));
        return then(added, (lists) => goOn(secured, lists.flat()));
      };
      const known = request[SETTINGS];
      const done = then(known?.by === this ? known.secured : this.#ask(request), add);
      if (isPromise(done)) done.catch(next);
    };
  }

  #ask(request: Request): Maybe<Settings> {
    if (!this.#security) return NO_SETTINGS;
    const { options, check } = this.#security;
    if (!check.isDone) return check.pass().then(() => this.#ask(request));
    return then(guarded(options.settings, request), settingsFrom);
  }
}

/** Two parts at least, as PostgreSQL takes them for settings of an application. */
const NAME = /^[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)+$/;

/** @throws RefusedRequestError 403 where something is missing; TypeError, which shows no value */
function settingsFrom(answer: unknown): Settings {
  if (answer === null || answer === undefined) throw denied();
  if (typeof answer !== 'object' || Array.isArray(answer))
    throw new TypeError('rls.settings gave no object; use one such as { "app.tenant_id": "7" }.');
  const entries = Object.entries(answer);
  if (entries.length === 0) throw new TypeError('rls.settings gave an object without a setting.');
  return entries.map(([name, value]) => [name, checked(name, value)] as const);
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
