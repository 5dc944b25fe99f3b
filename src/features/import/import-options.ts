/** The option `import` of `@Crud`, and the parameters of its requests: `mode`, `atomic`, `dry_run` and `delimiter`. */
import { isPlain, type OptionCheck } from '../../compile/compile-options.js';
import type { ResourceCheck } from '../../compile/compile-resource.js';
import { featureOption, type ResourcePlan } from '../../compile/resource-plan.js';
import { IMPORT_MODES, type ImportMode } from '../../declare/import-options.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { keyNames } from '../../describe/row-key.js';
import type { Input, Inputs } from '../../operation/feature.js';
import { parseSize, repeatedNames, showValue, unknownOptions } from '../../util/option-problems.js';
import { DRY_RUN } from '../bulk/bulk-options.js';
import { choice, flag } from '../flag.js';
import { checkUpsert, keyInput, upsertKeys } from '../upsert/upsert-options.js';
import { DELIMITERS } from './csv-columns.js';

/** The option, compiled. */
export interface ImportPlan {
  readonly modes: readonly ImportMode[];
  readonly maxBytes: number;
  readonly maxRows: number;
  readonly atomicRows: number;
}

const DEFAULTS: ImportPlan = Object.freeze({
  modes: Object.freeze(['create'] as const),
  maxBytes: 50 * 1024 * 1024,
  maxRows: 1_000_000,
  atomicRows: 10_000,
});

/** Compiles the option. */
export function compileImport(value: unknown, { report }: OptionCheck): ImportPlan {
  if (!isPlain(value)) {
    report(`import is ${showValue(value)}; use an object such as { modes: ['create'] }.`);
    return DEFAULTS;
  }
  const given: Readonly<Record<string, unknown>> = { ...DEFAULTS, ...(value as object) };
  unknownOptions('import', given, Object.keys(DEFAULTS)).forEach(report);
  for (const name of ['maxRows', 'atomicRows'] as const) {
    if (!Number.isSafeInteger(given[name]) || Number(given[name]) < 1)
      report(`import.${name} is ${showValue(given[name])}; use an integer from 1.`);
  }
  return Object.freeze({
    modes: compileModes(given['modes'], report),
    maxBytes: compileSize(given['maxBytes'], report),
    maxRows: Number(given['maxRows']),
    atomicRows: Number(given['atomicRows']),
  });
}

function compileModes(value: unknown, report: OptionCheck['report']): readonly ImportMode[] {
  const modes: unknown[] = Array.isArray(value) ? value : [];
  const known = modes.filter((mode): mode is ImportMode => IMPORT_MODES.some((each) => each === mode));
  repeatedNames('import.modes', modes).forEach(report);
  if (modes.length > 0 && known.length === modes.length) return Object.freeze([...new Set(known)]);
  report(
    `import.modes is ${showValue(value)}; use a list of ${IMPORT_MODES.map((each) => `'${each}'`).join(', ')}.`,
  );
  return DEFAULTS.modes;
}

function compileSize(value: unknown, report: OptionCheck['report']): number {
  const size = parseSize(value);
  if (size !== null) return size;
  report(`import.maxBytes is ${showValue(value)}; use a number of bytes from 1, or a text such as '50mb'.`);
  return DEFAULTS.maxBytes;
}

/** The compiled option of a resource; undefined where it has none. */
export const importPlan = featureOption<ImportPlan | undefined>('import', undefined);

/** Problems of the option with others. */
export const checkImport: ResourceCheck = (plan, options) => {
  const { modes = [] } = importPlan(plan) ?? {};
  const isUseless =
    plan.features['upsert'] !== undefined && !plan.endpoints.has('upsert') && !modes.includes('upsert');
  if (isUseless)
    return [
      "upsert names keys that nothing uses; name 'upsert' in endpoints or in import.modes, or leave it out.",
    ];
  if (!modes.includes('upsert') || plan.endpoints.has('upsert')) return [];
  const endpoints = new Set([...plan.endpoints, 'create', 'upsert'] as const);
  return checkUpsert({ ...plan, endpoints }, options).map((each) =>
    each.replace("endpoints has 'upsert'", "import.modes has 'upsert'"),
  );
};

/** Values of the parameters. */
export interface ImportInputs extends Inputs {
  readonly mode: ImportMode;
  readonly isAtomic: boolean;
  readonly isDryRun: boolean;
  readonly delimiter: string;
  /** The key of an upsert. */
  readonly onConflict?: ModelInfo;
  readonly idempotencyKey?: string;
}

/** The parameters. No feature takes part in them, so that each is in this list or is refused. */
export function importInputs(plan: ResourcePlan, { modes, atomicRows }: ImportPlan): readonly Input[] {
  return [
    ...(modes.includes('upsert') ? [onInput(upsertKeys(plan))] : []),
    choice('mode', {
      description: `What is done with the rows. Default: \`${modes[0]}\`.`,
      allowed: modes,
      code: 'mode.unknown',
      absent: modes[0],
    }),
    flag(
      'atomic',
      'isAtomic',
      true,
      `Whether one row that is refused undoes all. Then a file has ${atomicRows} rows at most. With \`false\` the other rows are stored, and the answer is 207. Default: true.`,
    ),
    DRY_RUN,
    choice(
      'delimiter',
      {
        description: 'The text between two cells of CSV. Default: a comma.',
        allowed: [...DELIMITERS.keys()],
        code: 'delimiter.unknown',
        absent: ',',
      },
      (text) => (text === '\t' ? text : DELIMITERS.get(text)),
    ),
  ];
}

/** The parameter that names the key of an upsert, by default the first one. */
function onInput(keys: readonly ModelInfo[]): Input {
  const [first] = keys;
  const input = keyInput('on', keys, {
    description: `The attributes of the key by which \`mode=upsert\` finds a record. Default: \`${keyNames(first?.address ?? []).join(',')}\`.`,
    code: 'on.unknown',
    absent: first,
  });
  return {
    ...input,
    turn: 1,
    read(text, reading) {
      if (reading.inputs['mode'] === 'upsert') return input.read(text, reading);
      const detail = "Parameter 'on' names the key of mode=upsert, and mode is another one; leave it out.";
      reading.issues.push({ parameter: 'on', code: 'exclusive', detail });
      return undefined;
    },
  };
}
