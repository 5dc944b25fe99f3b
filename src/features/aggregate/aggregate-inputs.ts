/** The parameters of `GET /cities/aggregate` -> the parts of its operation. */
import { parseSortName } from '../../compile/compile-sort.js';
import { comparedText, operatorsOf, operatorsOfColumn, rangeMark } from '../../compile/filter-operators.js';
import type { FilterPlan, ResourcePlan } from '../../compile/resource-plan.js';
import { MEASURES } from '../../declare/aggregate-options.js';
import { comparedType } from '../../describe/column-type.js';
import type { RecordInfo } from '../../describe/model-info.js';
import { attributeOf } from '../../execute/sql/predicate-sql.js';
import type { Input, Inputs } from '../../operation/feature.js';
import { parseFilter } from '../../request/query/parse-filter.js';
import type { Filter } from '../../request/query/predicate.js';
import { quote } from '../../request/query/query-string.js';
import type { RequestIssue } from '../../schema/request-issue.js';
import { didYouMean } from '../../util/option-problems.js';
import { chosenNames } from '../chosen-names.js';
import { integerInput, readInteger } from '../paging.js';
import {
  type AggregateOperation,
  COUNT,
  type GroupOrder,
  type GroupTerm,
  type MeasureTerm,
} from './aggregate-operation.js';
import { type AggregatePlan, MAX_PAGED } from './aggregate-options.js';
import { hasMeasure, isMoment, measureType, NUMBER_OF_ROWS } from './aggregate-types.js';
import { groupReader } from './related-group.js';
import { isTimeZone } from './time-zone.js';

/** The parameters of a list that aggregates take, too: those that choose the rows. */
export const ROW_INPUTS: readonly string[] = ['q', 'search', 'deleted'];

/** Names in a parameter. */
const MAX_GROUPS = 3;
const MAX_MEASURES = 10;
const MAX_ORDER = 3;

const NO_NAMES = Object.freeze([]);

const MEASURE_WORDS = {
  sum: 'The sums of these attributes.',
  avg: 'The averages of these attributes.',
  min: 'The lowest values of these attributes.',
  max: 'The highest values of these attributes.',
  countDistinct: 'How many different values these attributes have. NULL is none.',
} as const;

/** Member of the inputs with a parameter. No parameter of a list has it. */
function memberOf(name: string): string {
  return `aggregate.${name}`;
}

/** The parameters of a request. */
export function readAggregateInputs(inputs: Inputs, info: RecordInfo): Omit<AggregateOperation, 'where'> {
  const of = <T>(name: string) => inputs[memberOf(name)] as T;
  const group = of<readonly GroupTerm[]>('group');
  return {
    group,
    measures: measuresIn(inputs),
    having: of('having'),
    order: of('sort'),
    window: { page: of('page'), size: of('size') },
    zone: hasZone(group, info) ? of('tz') : null,
  };
}

function groupIn(inputs: Inputs): readonly GroupTerm[] {
  return inputs[memberOf('group')] as readonly GroupTerm[];
}

function measuresIn(inputs: Inputs): readonly MeasureTerm[] {
  return MEASURES.flatMap((measure) => (inputs[memberOf(measure)] ?? []) as readonly MeasureTerm[]);
}

/** True where one of the groups is a span of moments, which begins at another moment in another zone. */
export function hasZone(group: Iterable<GroupTerm>, info: RecordInfo): boolean {
  return [...group].some(({ attribute, unit }) => unit !== null && isMoment(attributeOf(info, attribute)));
}

/** The parameters that only aggregates have. */
export function aggregateInputs(plan: AggregatePlan, resource: ResourcePlan): readonly Input[] {
  const { info } = resource;
  const { groups, size } = plan;
  const see = groupReader(resource);
  const most = `Parameter 'group' names more than ${MAX_GROUPS}; at most ${MAX_GROUPS} are allowed.`;
  const input = (
    name: string,
    absent: unknown,
    parts: Required<Pick<Input, 'read' | 'describe'>> & Pick<Input, 'turn' | 'namesKeys'>,
  ): Input => ({ in: 'query', name, endpoints: [], member: memberOf(name), absent, ...parts });
  const measureInputs = MEASURES.flatMap((measure) => {
    const own = [...plan.measures.values()].filter((term) => term.measure === measure);
    if (own.length === 0) return [];
    const terms = new Map(own.map((term) => [term.attribute, term]));
    const all = `Parameter '${measure}' makes more than ${MAX_MEASURES} measures; at most ${MAX_MEASURES} are allowed in all.`;
    return input(measure, NO_NAMES, {
      read: (text, { inputs, issues, access: { form } }) =>
        readNames(text, issues, {
          parameter: measure,
          terms,
          see: (term) =>
            !form.unreadable.has(term.attribute) && hasMeasure(measure, attributeOf(info, term.attribute))
              ? term
              : undefined,
          most: [MAX_MEASURES - measuresIn(inputs).length, all],
        }),
      describe: () => chosenNames(MEASURE_WORDS[measure], [...terms.keys()], MAX_MEASURES),
    });
  });
  return [
    input('group', NO_NAMES, {
      namesKeys: true,
      read: (text, reading) =>
        readNames(text, reading.issues, {
          parameter: 'group',
          terms: groups,
          see: (term, isNamed) => see(term, reading, isNamed),
          most: [MAX_GROUPS, most],
        }),
      describe: () =>
        chosenNames('The groups of records. Default: one group of all.', [...groups.keys()], MAX_GROUPS),
    }),
    ...measureInputs,
    input('having', null, {
      turn: 1,
      read: (text, { inputs, issues }) => readHaving(text, measuresIn(inputs), info, issues),
      describe: () => ({
        description: `A condition on groups, in the language of \`q\`: on \`${COUNT}\`, and on the measures of the request, such as \`sum.price>=100\`.`,
        schema: { type: 'string', minLength: 1 },
      }),
    }),
    input('sort', NO_NAMES, {
      turn: 1,
      read: (text, { inputs, issues }) => readOrder(text, groupIn(inputs), measuresIn(inputs), issues),
      describe: () =>
        chosenNames(
          'The order of the groups, by groups and measures of the request; `-` is descending. Default: the groups, ascending.',
          [...groups.keys(), COUNT, ...plan.measures.keys()].flatMap((name) => [name, `-${name}`]),
          MAX_ORDER,
        ),
    }),
    { ...integerInput('size', 'Groups of a page.', size.default, [1, size.max]), member: memberOf('size') },
    input('page', 1, {
      turn: 1,
      read(text, { inputs, issues }) {
        const last = Math.max(1, Math.floor(MAX_PAGED / Number(inputs[memberOf('size')])));
        return readInteger('page', text, [1, last], 1, issues);
      },
      describe: () => ({
        description: `The number of the page. Pages reach ${MAX_PAGED} groups.`,
        schema: { type: 'integer', minimum: 1, maximum: MAX_PAGED, default: 1 },
      }),
    }),
    ...(hasZone(groups.values(), info)
      ? [
          input('tz', 'UTC', {
            turn: 1,
            read(text, { inputs, issues }) {
              const isOfNone = issues.length === 0 && !hasZone(groupIn(inputs), info);
              if (!isTimeZone(text))
                issues.push(
                  zoneIssue(
                    `Parameter 'tz' is ${quote(text)}; it accepts the name of a time zone, such as Europe/Berlin or UTC.`,
                  ),
                );
              else if (isOfNone)
                issues.push(
                  zoneIssue(
                    "Parameter 'tz' is for groups by spans of moments, and group names none; leave it out.",
                  ),
                );
              return text;
            },
            describe: () => ({
              description:
                'The time zone whose days, weeks and months moments belong to: a name of IANA. Hours are those of the zone, too, and are answered as moments. Default: `UTC`.',
              schema: { type: 'string', examples: ['Europe/Berlin'] },
            }),
          }),
        ]
      : []),
  ];
}

/** Issue of the parameter `tz`. */
export function zoneIssue(detail: string): RequestIssue {
  return { parameter: 'tz', code: 'aggregate.tz', detail };
}

interface KnownNames<T> {
  readonly parameter: string;
  readonly terms: ReadonlyMap<string, T>;
  /** The term of the request; undefined where it is hidden from the request. @param isNamed true where the text has its name */
  see(term: T, isNamed: boolean): T | undefined;
  /** The most names, and the sentence about more. */
  readonly most: readonly [number, string];
  /** Sentence behind the accepted names. Default: none. */
  readonly hint?: string;
}

/** Names between commas, each once. Problems are added to the issues. */
function readNames<T>(text: string, issues: RequestIssue[], known: KnownNames<T>): readonly T[] {
  const { parameter, terms, see, most, hint } = known;
  const names = text.split(',', most[0] + 1);
  const refuse = (issue: Pick<RequestIssue, 'code' | 'detail' | 'allowed'>) => {
    issues.push({ parameter, ...issue });
    return [];
  };
  if (names.length > most[0]) return refuse({ code: 'aggregate.too-many', detail: most[1] });
  const bare = names.map((each) => parseSortName(each).name);
  return names.flatMap((name, index) => {
    const term = terms.get(name);
    const found = term && see(term, true);
    const own = bare[index] as string;
    if (found && bare.indexOf(own) === index) return found;
    if (found) {
      const detail = `Parameter '${parameter}' has '${own}' twice; name it once.`;
      return refuse({ code: 'aggregate.repeated', detail });
    }
    const allowed = [...terms].flatMap(([each, one]) => (see(one, names.includes(each)) ? each : []));
    const choices = allowed.length > 0 ? `It accepts ${allowed.join(', ')}.` : 'It accepts none.';
    const detail = `Parameter '${parameter}' has ${quote(name)}.${didYouMean(name, allowed)} ${choices}`;
    return refuse({ code: 'aggregate.unknown', detail: hint ? `${detail} ${hint}` : detail, allowed });
  });
}

/** An order of groups and measures. Where another parameter is wrong, there is nothing to compare it with. */
export function readOrder(
  text: string,
  group: readonly GroupTerm[],
  measures: readonly MeasureTerm[],
  issues: RequestIssue[],
): readonly GroupOrder[] {
  if (issues.length > 0) return [];
  const names = [...group, { name: COUNT }, ...measures];
  const terms = names.flatMap(({ name }): (readonly [string, GroupOrder])[] => [
    [name, { name, descending: false }],
    [`-${name}`, { name, descending: true }],
  ]);
  return readNames(text, issues, {
    parameter: 'sort',
    terms: new Map(terms),
    see: (term) => term,
    most: [MAX_ORDER, `Parameter 'sort' names more than ${MAX_ORDER}; at most ${MAX_ORDER} are allowed.`],
    hint: 'Groups and measures have to be in the request, too.',
  });
}

/** A condition on the number of rows and on measures. */
export function readHaving(
  text: string,
  measures: readonly MeasureTerm[],
  info: RecordInfo,
  issues: RequestIssue[],
): Filter | null {
  if (issues.length > 0) return null;
  const filters = new Map([
    [COUNT, filterOf(COUNT)],
    ...measures.map((term) => [term.name, filterOf(term.name, term, info)] as const),
  ]);
  const own: RequestIssue[] = [];
  const filter = parseFilter({ filters }, text, own);
  const hint = ' Measures have to be in the request, such as sum=price.';
  for (const { detail, ...issue } of own)
    issues.push({
      ...issue,
      detail: issue.code === 'q.unknown-field' ? `${detail}${hint}` : detail,
      parameter: 'having',
    });
  return filter;
}

function filterOf(name: string, term?: MeasureTerm, info?: RecordInfo): FilterPlan {
  const attribute = term && info && attributeOf(info, term.attribute);
  const type = term && attribute ? measureType(term.measure, attribute.type) : NUMBER_OF_ROWS;
  const found = term?.measure === 'min' || term?.measure === 'max' ? attribute?.found : undefined;
  return {
    attribute: name,
    type,
    compared: comparedText(comparedType(type), found),
    operators: operatorsOfColumn(operatorsOf(type), type, found),
    ...rangeMark(type),
  };
}
