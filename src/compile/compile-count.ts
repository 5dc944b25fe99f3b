/** The option `count` of a list or a relation -> how its rows may be counted. */
import { COUNT_MODES, type CountMode } from '../declare/count-options.js';
import { didYouMean, showValue, unknownOptions } from '../util/option-problems.js';
import { isPlain } from './compile-options.js';
import type { CountPlan } from './resource-plan.js';

/** Rows that are counted at most where nothing else is said. */
export const DEFAULT_CAP = 10_000;

const NAMES = ['default', 'allow', 'cap'];
const MODES = COUNT_MODES.map((mode) => `'${mode}'`).join(', ');

/**
 * Compiles the option; null where it is not set.
 *
 * @param usual the default of the option
 * @param option its name with its owner, as the beginning of a sentence
 */
export function compileCount(
  given: unknown,
  usual: CountMode,
  option: string,
  report: (problem: string) => void,
): CountPlan | null {
  if (given === undefined || given === null) return null;
  if (given !== true && !isPlain(given)) {
    report(
      `${option} is ${showValue(given)}; use true, or an object such as { default: 'capped', cap: 10_000 }.`,
    );
    return null;
  }
  const options: Readonly<Record<string, unknown>> = given === true ? {} : { ...(given as object) };
  unknownOptions(option, options, NAMES).forEach(report);
  const { default: wanted, allow = COUNT_MODES, cap = DEFAULT_CAP } = options;
  const allowed = compileAllow(allow, option, report);
  const [first = usual] = allowed;
  const mode = wanted ?? (allowed.includes(usual) ? usual : first);
  if (!isMode(mode)) report(`${option}.default is ${unknownMode(mode)}`);
  else if (!allowed.includes(mode)) {
    report(
      `${option}.default is '${mode}', which its allow leaves out; add it there, or choose another default.`,
    );
  }
  if (!Number.isSafeInteger(cap) || (cap as number) < 1) {
    report(`${option}.cap is ${showValue(cap)}; use an integer from 1.`);
  }
  return Object.freeze({ default: mode as CountMode, allow: allowed, cap: cap as number });
}

function compileAllow(
  allow: unknown,
  option: string,
  report: (problem: string) => void,
): readonly CountMode[] {
  if (!Array.isArray(allow) || allow.length === 0) {
    report(`${option}.allow is ${showValue(allow)}; use a list of some of ${MODES}.`);
    return COUNT_MODES;
  }
  for (const mode of allow) if (!isMode(mode)) report(`${option}.allow has ${unknownMode(mode)}`);
  const known = allow.filter(isMode);
  return known.length === 0 ? COUNT_MODES : Object.freeze([...new Set(known)]);
}

function isMode(mode: unknown): mode is CountMode {
  return COUNT_MODES.some((each) => each === mode);
}

function unknownMode(mode: unknown): string {
  return `${showValue(mode)}; use one of ${MODES}.${didYouMean(typeof mode === 'string' ? mode : '', COUNT_MODES)}`;
}
