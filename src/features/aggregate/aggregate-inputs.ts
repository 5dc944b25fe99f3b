/** The parameters of `GET /cities/aggregate` -> the parts of its operation. */
import type { AccessForm } from '../../operation/access.js';
import type { Input, Reading } from '../../operation/feature.js';
import { quote } from '../../request/query/query-string.js';
import { didYouMean } from '../../util/option-problems.js';
import { chosenNames } from '../chosen-names.js';
import { readInteger } from '../paging.js';
import type { GroupTerm } from './aggregate-operation.js';
import type { AggregatePlan } from './aggregate-options.js';

/** The parameters of a list that aggregates take, too: those that choose the rows. */
export const ROW_INPUTS: readonly string[] = ['q', 'search', 'deleted'];

/** Groups that a request may name. */
const MAX_GROUPS = 3;
/** Groups that pages can reach. */
const MAX_PAGED = 10_000;

/** Parsed parameters. */
export interface AggregateInputs {
  readonly group: readonly GroupTerm[];
  readonly size: number;
  readonly page: number;
}

/** The member of the inputs that holds one of them. No list has it. */
function memberOf(name: keyof AggregateInputs): string {
  return `aggregate.${name}`;
}

/** The parameters of a request. */
export function aggregateInputsOf(inputs: Readonly<Record<string, unknown>>): AggregateInputs {
  const names = ['group', 'size', 'page'] as const;
  return Object.fromEntries(names.map((name) => [name, inputs[memberOf(name)]])) as never as AggregateInputs;
}

/** The parameters that only aggregates have. */
export function aggregateInputs(plan: AggregatePlan): readonly Input[] {
  const { groups, size } = plan;
  const seen = (form: AccessForm) =>
    new Map([...groups].filter(([, { attribute }]) => !form.unreadable.has(attribute)));
  return [
    {
      in: 'query',
      name: 'group',
      endpoints: [],
      member: memberOf('group'),
      absent: Object.freeze([]),
      read: (text, reading) => readNames('group', text, seen(reading.access.form), MAX_GROUPS, reading),
      describe: () =>
        chosenNames('The groups of records. Default: one group of all.', [...groups.keys()], MAX_GROUPS),
    },
    {
      in: 'query',
      name: 'size',
      endpoints: [],
      member: memberOf('size'),
      absent: size.default,
      read: (text, { issues }) => readInteger('size', text, [1, size.max], size.default, issues),
      describe: () => ({
        description: 'Groups of a page.',
        schema: { type: 'integer', minimum: 1, maximum: size.max, default: size.default },
      }),
    },
    {
      in: 'query',
      name: 'page',
      endpoints: [],
      member: memberOf('page'),
      absent: 1,
      turn: 1,
      read: (text, { inputs, issues }) => {
        const most = Math.max(1, Math.floor(MAX_PAGED / Number(inputs[memberOf('size')])));
        return readInteger('page', text, [1, most], 1, issues);
      },
      describe: () => ({
        description: `The number of the page. Pages reach ${MAX_PAGED} groups.`,
        schema: { type: 'integer', minimum: 1, maximum: MAX_PAGED, default: 1 },
      }),
    },
  ];
}

/** Names between commas, each once. What is wrong is added to the issues. */
function readNames<T>(
  parameter: string,
  text: string,
  known: ReadonlyMap<string, T>,
  most: number,
  { issues }: Reading,
): readonly T[] {
  const names = text.split(',', most + 1);
  const allowed = [...known.keys()];
  if (names.length > most) {
    const detail = `Parameter '${parameter}' names more than ${most}; at most ${most} are allowed.`;
    issues.push({ parameter, code: 'aggregate.too-many', detail });
    return [];
  }
  return names.flatMap((name, index) => {
    const found = known.get(name);
    if (found === undefined) {
      const choices = allowed.length > 0 ? `It accepts ${allowed.join(', ')}.` : 'It accepts none.';
      const detail = `Parameter '${parameter}' has ${quote(name)}.${didYouMean(name, allowed)} ${choices}`;
      issues.push({ parameter, code: 'aggregate.unknown', detail, allowed });
      return [];
    }
    if (names.indexOf(name) === index) return [found];
    const detail = `Parameter '${parameter}' has '${name}' twice; name it once.`;
    issues.push({ parameter, code: 'aggregate.repeated', detail });
    return [];
  });
}
