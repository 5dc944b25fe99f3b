/** The option `export` of `@Crud`, with its checks; and the parameters of exports. */
import { isPlain, type OptionCheck } from '../../compile/compile-options.js';
import type { ResourceCheck } from '../../compile/compile-resource.js';
import { everyInclude, featureOption, type ResourcePlan } from '../../compile/resource-plan.js';
import { EXPORT_FORMATS, type ExportFormat } from '../../declare/export-options.js';
import { type Input, type Inputs, PLACES } from '../../operation/feature.js';
import { CURSOR_LENGTH, type CursorCodec } from '../../request/query/cursor-codec.js';
import { didYouMean, repeatedNames, showValue, unknownOptions } from '../../util/option-problems.js';
import { choice, flag } from '../flag.js';

/** The compiled option. */
export interface ExportPlan {
  /** Formats, at least one. */
  readonly formats: readonly ExportFormat[];
  /** Null is no limit. */
  readonly maxRows: number | null;
  /** Seconds of a snapshot at most; null where there are none. */
  readonly snapshot: number | null;
}

const NAMES = ['formats', 'maxRows', 'snapshot'];
const LONGEST_SNAPSHOT = 3_600;

/** Compiles the option. */
export function compileExport(value: unknown, { report }: OptionCheck): ExportPlan {
  const given = Array.isArray(value) ? { formats: value } : value;
  if (!isPlain(given)) {
    report(
      `export is ${showValue(value)}; use an array such as ['csv', 'ndjson'], or an object with formats.`,
    );
    return { formats: ['csv'], maxRows: null, snapshot: null };
  }
  unknownOptions('export', given as object, NAMES).forEach(report);
  const { formats, maxRows = null, snapshot = null } = given as Readonly<Record<string, unknown>>;
  formatProblems(formats).forEach(report);
  if (maxRows !== null && !isInteger(maxRows, 1, Number.MAX_SAFE_INTEGER - 1))
    report(`export.maxRows is ${showValue(maxRows)}; use an integer from 1, or leave it out.`);
  const { seconds, ...more } = (isPlain(snapshot) ? snapshot : {}) as Readonly<Record<string, unknown>>;
  const isSnapshot = isInteger(seconds, 1, LONGEST_SNAPSHOT) && Object.keys(more).length === 0;
  if (snapshot !== null && !isSnapshot)
    report(
      `export.snapshot is ${showValue(snapshot)}; use { seconds: 60 }, with an integer from 1 to ${LONGEST_SNAPSHOT}.`,
    );
  return {
    formats: Array.isArray(formats) ? EXPORT_FORMATS.filter((each) => formats.includes(each)) : [],
    maxRows: maxRows as number | null,
    snapshot: isSnapshot ? (seconds as number) : null,
  };
}

function formatProblems(formats: unknown): string[] {
  const allowed = EXPORT_FORMATS.map((each) => `'${each}'`).join(' and ');
  if (!Array.isArray(formats) || formats.length === 0)
    return [`export.formats is ${showValue(formats)}; use an array with ${allowed}, or with one of them.`];
  const unknown = formats.filter((each) => !EXPORT_FORMATS.includes(each as ExportFormat));
  return [
    ...unknown.map(
      (each) =>
        `export has the format ${showValue(each)}; use ${allowed}.${didYouMean(String(each), EXPORT_FORMATS)}`,
    ),
    ...repeatedNames('export', formats),
  ];
}

function isInteger(value: unknown, minimum: number, maximum: number): boolean {
  return Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum;
}

/** The plan of a resource's exports; null where it has none. */
export const exportOf = featureOption<ExportPlan | null>('export', null);

/** Problems of a resource that cannot be exported. */
export const checkExport: ResourceCheck = ({ endpoints, features, info }) => {
  if (exportOf({ features }) === null) return [];
  return [
    ...(endpoints.has('list')
      ? []
      : ["export is another form of the list, and endpoints has no 'list'; add it, or leave export out."]),
    ...(info.primaryKey.length > 0
      ? []
      : [
          'export goes on behind the last row of each chunk, and no attributes tell the rows apart; name them with id, or leave export out.',
        ]),
  ];
};

/** Inputs of the list that an export takes, beside those of relations. */
const OF_LIST = ['q', 'search', 'sort', 'fields', 'deleted', 'include'];

/** The names of the inputs of the list that an export takes. */
export function listInputNames({ relations }: Pick<ResourcePlan, 'relations'>): readonly string[] {
  const toOne = everyInclude(relations.include).filter(({ size }) => size === null);
  return [...OF_LIST, ...toOne.map(({ path }) => `${path}.fields`)];
}

/** The inputs that lists have not. */
export interface ExportInputs extends Inputs {
  readonly format?: ExportFormat;
  /** `exact`. */
  readonly isCounted?: string;
  readonly hasCheckpoints?: boolean;
  readonly isForSpreadsheet?: boolean;
  readonly isConsistent?: boolean;
}

/** The inputs of exports alone. */
export function exportInputs(plan: ResourcePlan, cursors: CursorCodec): readonly Input[] {
  const { formats, snapshot } = exportOf(plan) as ExportPlan;
  const inputs: Input[] = [
    choice('format', {
      description:
        'All records as a file, not a page: without `page` and `size`. A header `Accept` that names the type chooses it, too.',
      allowed: formats,
      code: 'export.not-allowed',
    }),
    place(plan, cursors),
    choice('count', {
      description: 'With `format` the records are counted before, for the header `Crud-Total`.',
      allowed: ['exact'],
      code: 'export.not-allowed',
      member: 'isCounted',
    }),
  ];
  if (formats.includes('ndjson'))
    inputs.push(
      flag(
        'checkpoints',
        'hasCheckpoints',
        false,
        'With `format=ndjson` a line `{"next_cursor":…}` comes behind each chunk, for `after`; that of the end has null.',
      ),
    );
  if (formats.includes('csv'))
    inputs.push(
      flag(
        'spreadsheet',
        'isForSpreadsheet',
        false,
        "With `format=csv` the file has a BOM, and `'` before texts that begin as formulas do and are no numbers.",
      ),
    );
  if (snapshot !== null)
    inputs.push(
      flag(
        'consistent',
        'isConsistent',
        false,
        `With \`format\` all records are of one moment, and the connection is cut after ${snapshot} seconds. One at a time.`,
      ),
    );
  return inputs;
}

/** Place that the records follow, for both kinds of pages. */
function place(plan: ResourcePlan, cursors: CursorCodec): Input {
  return {
    in: 'query',
    name: 'after',
    endpoints: [],
    absent: null,
    turn: PLACES,
    read(text, { inputs, issues, digest }) {
      if (issues.length > 0) return null;
      return cursors.decode(text, { plan, sort: inputs.sort ?? [], digest: digest() }, 'after');
    },
    describe: () => ({
      description: 'With `format` a `next_cursor`, with the same `q` and `sort`: the records behind it.',
      schema: { type: 'string', minLength: 1, maxLength: CURSOR_LENGTH },
    }),
  };
}
