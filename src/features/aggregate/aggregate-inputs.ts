/** The parameters of `GET /cities/aggregate` -> the parts of its operation. */
import { comparedText, operatorsOf, operatorsOfColumn, rangeMark } from '../../compile/filter-operators.js';
import type { FilterPlan, ResourcePlan } from '../../compile/resource-plan.js';
import { MEASURES } from '../../declare/aggregate-options.js';
import { comparedType } from '../../describe/column-type.js';
import type { AttributeInfo, RecordInfo } from '../../describe/model-info.js';
import type { AccessForm } from '../../operation/access.js';
import type { Input, Inputs, Reading } from '../../operation/feature.js';
import { parseFilter } from '../../request/query/parse-filter.js';
import type { Filter } from '../../request/query/predicate.js';
import { quote } from '../../request/query/query-string.js';
import type { RequestIssue } from '../../schema/request-issue.js';
import { didYouMean } from '../../util/option-problems.js';
import { chosenNames } from '../chosen-names.js';
import { readInteger } from '../paging.js';
import { mayBeHidden, sortReader } from '../sort.js';
import { COUNT, type GroupOrder, type GroupTerm, type MeasureTerm } from './aggregate-operation.js';
import { type AggregatePlan, MAX_PAGED } from './aggregate-options.js';
import { canGroup, hasMeasure, isMoment, measureType, NUMBER_OF_ROWS } from './aggregate-types.js';
import { readRelatedGroup, relatedGroup } from './related-group.js';
import { isTimeZone } from './time-zone.js';

/** The parameters of a list that aggregates take, too: those that choose the rows. */
export const ROW_INPUTS: readonly string[] = ['q', 'search', 'deleted'];

/** Names in a parameter. */
const MAX_GROUPS = 3;
const MAX_MEASURES = 10;
const MAX_ORDER = 3;

/** Parsed parameters. */
export interface AggregateInputs {
  readonly group: readonly GroupTerm[];
  readonly measures: readonly MeasureTerm[];
  readonly having: Filter | null;
  readonly sort: readonly GroupOrder[];
  readonly size: number;
  readonly page: number;
  readonly zone: string | null;
}

/** Member of the inputs with a parameter. No parameter of a list has it. */
function memberOf(name: string): string {
  return `aggregate.${name}`;
}

/** The parameters of a request. */
export function readAggregateInputs(inputs: Inputs, info: RecordInfo): AggregateInputs {
  const of = <T>(name: string) => inputs[memberOf(name)] as T;
  const group = of<readonly GroupTerm[]>('group');
  const hasZone = group.some((term) => isZoned(term, info));
  return {
    group,
    measures: measuresIn(inputs),
    having: of<Filter | null>('having'),
    sort: of<readonly GroupOrder[]>('sort'),
    size: of<number>('size'),
    page: of<number>('page'),
    zone: hasZone ? of<string>('tz') : null,
  };
}

function measuresIn(inputs: Inputs): readonly MeasureTerm[] {
  return MEASURES.flatMap((measure) => (inputs[memberOf(measure)] ?? []) as readonly MeasureTerm[]);
}

/** True for a span of moments, which begins at another moment in another zone. */
export function isZoned({ attribute, unit }: GroupTerm, { attributes }: RecordInfo): boolean {
  return unit !== null && isMoment(attributes.get(attribute) as AttributeInfo);
}

const NO_NAMES = Object.freeze([]);

/** The parameters that only aggregates have. */
export function aggregateInputs(plan: AggregatePlan, resource: ResourcePlan): readonly Input[] {
  const { info } = resource;
  const readKeys = sortReader(resource);
  const attributeOf = (name: string) => info.attributes.get(name) as AttributeInfo;
  const { groups, measures } = plan;
  const groupsFor = (names: readonly string[], reading: Reading): ReadonlyMap<string, GroupTerm> => {
    const { form } = reading.access;
    const { unreadable } = form;
    return new Map(
      [...groups].flatMap(([name, term]): (readonly [string, GroupTerm])[] => {
        if (info.attributes.has(term.attribute))
          return !unreadable.has(term.attribute) && canGroup(term.unit, attributeOf(term.attribute))
            ? [[name, term]]
            : [];
        const key = relatedGroup(resource, name)?.related.relation.parentKey ?? '';
        if (unreadable.has(key)) return [];
        // Relations that the text does not name are not asked for.
        if (names.includes(name)) {
          const found = readRelatedGroup(term, reading, readKeys);
          return found ? [[name, found]] : [];
        }
        return resource.sortKeys.get(name)?.some((each) => mayBeHidden(each, form)) ? [] : [[name, term]];
      }),
    );
  };
  const isMeasured = ({ attribute, measure }: MeasureTerm, { unreadable }: AccessForm) =>
    !unreadable.has(attribute) && hasMeasure(measure, attributeOf(attribute));
  const group = namesInput('group', {
    turn: 0,
    absent: NO_NAMES,
    read: (text, reading) =>
      readNames('group', text, groupsFor(text.split(',', MAX_GROUPS), reading), MAX_GROUPS, reading),
    describe: () =>
      chosenNames('The groups of records. Default: one group of all.', [...groups.keys()], MAX_GROUPS),
  });
  const measured = MEASURES.map((measure) => {
    const own = new Map(
      [...measures.values()].flatMap((term) => (term.measure === measure ? [[term.attribute, term]] : [])),
    );
    return namesInput(measure, {
      turn: 0,
      absent: NO_NAMES,
      read(text, reading) {
        const seen = pick(own, (term) => isMeasured(term, reading.access.form));
        const known = measuresIn(reading.inputs).length;
        return readNames(measure, text, seen, MAX_MEASURES - known, reading, MAX_MEASURES);
      },
      describe: () => chosenNames(MEASURE_WORDS[measure], [...own.keys()], MAX_MEASURES),
    });
  });
  return [group, ...measured.filter((input) => input.describe?.()), ...rest(plan, info)].map((input) =>
    Object.freeze(input),
  );
}

const MEASURE_WORDS = {
  sum: 'The sums of these attributes.',
  avg: 'The averages of these attributes.',
  min: 'The lowest values of these attributes.',
  max: 'The highest values of these attributes.',
  countDistinct: 'How many different values these attributes have. NULL is none.',
} as const;

type InputParts = Required<Pick<Input, 'turn' | 'absent' | 'read' | 'describe'>>;

function namesInput(name: string, parts: InputParts): Input {
  return { in: 'query', name, endpoints: [], member: memberOf(name), ...parts };
}

function pick<T>(terms: ReadonlyMap<string, T>, test: (term: T) => boolean): ReadonlyMap<string, T> {
  return new Map([...terms].filter(([, term]) => test(term)));
}

/** Parameters that depend on the groups and measures, and those of pages. */
function rest({ size, groups, measures }: AggregatePlan, info: RecordInfo): readonly Input[] {
  const named = (inputs: Inputs) =>
    namesOf(inputs[memberOf('group')] as readonly GroupTerm[], measuresIn(inputs));
  const all = [...groups.keys(), COUNT, ...measures.keys()];
  return [
    namesInput('having', {
      turn: 1,
      absent: null,
      read: (text, { inputs, issues }) => readHaving(text, measuresIn(inputs), info, issues),
      describe: () => ({
        description: `A condition on groups, in the language of \`q\`: on \`${COUNT}\`, and on the measures of the request, such as \`sum.price>=100\`.`,
        schema: { type: 'string', minLength: 1 },
      }),
    }),
    namesInput('sort', {
      turn: 1,
      absent: NO_NAMES,
      read: (text, reading) => readOrder(text, named(reading.inputs), reading),
      describe: () =>
        chosenNames(
          'The order of the groups, by groups and measures of the request; `-` is descending. Default: the groups, ascending.',
          all.flatMap((name) => [name, `-${name}`]),
          MAX_ORDER,
        ),
    }),
    namesInput('size', {
      turn: 0,
      absent: size.default,
      read: (text, { issues }) => readInteger('size', text, [1, size.max], size.default, issues),
      describe: () => ({
        description: 'Groups of a page.',
        schema: { type: 'integer', minimum: 1, maximum: size.max, default: size.default },
      }),
    }),
    namesInput('page', {
      turn: 1,
      absent: 1,
      read(text, { inputs, issues }) {
        const most = Math.max(1, Math.floor(MAX_PAGED / Number(inputs[memberOf('size')])));
        return readInteger('page', text, [1, most], 1, issues);
      },
      describe: () => ({
        description: `The number of the page. Pages reach ${MAX_PAGED} groups.`,
        schema: { type: 'integer', minimum: 1, maximum: MAX_PAGED, default: 1 },
      }),
    }),
    ...([...groups.values()].some((term) => isZoned(term, info)) ? [zoneInput(info)] : []),
  ];
}

function zoneInput(info: RecordInfo): Input {
  return namesInput('tz', {
    turn: 1,
    absent: 'UTC',
    read(text, { inputs, issues }) {
      const group = inputs[memberOf('group')] as readonly GroupTerm[];
      if (!isTimeZone(text))
        issues.push(
          zoneIssue(
            `Parameter 'tz' is ${quote(text)}; it accepts the name of a time zone, such as Europe/Berlin or UTC.`,
          ),
        );
      else if (issues.length === 0 && !group.some((term) => isZoned(term, info)))
        issues.push(
          zoneIssue("Parameter 'tz' is for groups by spans of moments, and group names none; leave it out."),
        );
      return text;
    },
    describe: () => ({
      description:
        'The time zone whose days, weeks and months moments belong to: a name of IANA. Hours are those of the zone, too, and are answered as moments. Default: `UTC`.',
      schema: { type: 'string', examples: ['Europe/Berlin'] },
    }),
  });
}

/** The names that an order may have. */
export function namesOf(group: readonly GroupTerm[], measures: readonly MeasureTerm[]): readonly string[] {
  return [...group.map(({ name }) => name), COUNT, ...measures.map(({ name }) => name)];
}

/** Issue of the parameter `tz`. */
export function zoneIssue(detail: string): RequestIssue {
  return { parameter: 'tz', code: 'aggregate.tz', detail };
}

/** Names between commas, each once. What is wrong is added to the issues. @param shown the most, as a message says it */
function readNames<T>(
  parameter: string,
  text: string,
  known: ReadonlyMap<string, T>,
  most: number,
  { issues }: Pick<Reading, 'issues'>,
  shown = most,
): readonly T[] {
  const names = text.split(',', most + 1);
  const allowed = [...known.keys()];
  if (names.length > most) {
    const detail =
      shown === most
        ? `Parameter '${parameter}' names more than ${most}; at most ${most} are allowed.`
        : `Parameter '${parameter}' makes more than ${shown} measures; at most ${shown} are allowed in all.`;
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

/** An order by names. Where another parameter is wrong, there is nothing to compare them with. */
export function readOrder(
  text: string,
  known: readonly string[],
  { issues }: Pick<Reading, 'issues'>,
): readonly GroupOrder[] {
  if (issues.length > 0) return [];
  const terms = known.flatMap((name): (readonly [string, GroupOrder])[] => [
    [name, { name, descending: false }],
    [`-${name}`, { name, descending: true }],
  ]);
  const found: RequestIssue[] = [];
  const order = readNames('sort', text, new Map(terms), MAX_ORDER, { issues: found });
  issues.push(
    ...found.map((issue) =>
      issue.code === 'aggregate.unknown'
        ? { ...issue, detail: `${issue.detail} Groups and measures have to be in the request, too.` }
        : issue,
    ),
  );
  const twice = order.find(({ name }, index) => order.findIndex((each) => each.name === name) !== index);
  if (twice)
    issues.push({
      parameter: 'sort',
      code: 'aggregate.repeated',
      detail: `Parameter 'sort' has '${twice.name}' twice; name it once.`,
    });
  return order;
}

/** A condition on the number of rows and on measures. */
export function readHaving(
  text: string,
  measures: readonly MeasureTerm[],
  info: RecordInfo,
  issues: RequestIssue[],
): Filter | null {
  if (issues.length > 0) return null;
  const filters = new Map<string, FilterPlan>([
    [COUNT, filterOf(COUNT)],
    ...measures.map((term) => [term.name, filterOf(term.name, term, info)] as const),
  ]);
  const own: RequestIssue[] = [];
  const filter = parseFilter({ filters }, text, own);
  issues.push(
    ...own.map(({ detail, ...issue }) => ({
      ...issue,
      detail:
        issue.code === 'q.unknown-field'
          ? `${detail} Measures have to be in the request, such as sum=price.`
          : detail,
      parameter: 'having',
    })),
  );
  return filter;
}

function filterOf(name: string, term?: MeasureTerm, info?: RecordInfo): FilterPlan {
  const attribute = term && (info?.attributes.get(term.attribute) as AttributeInfo);
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
