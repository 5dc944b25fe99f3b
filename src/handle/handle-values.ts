/** The story of a read whose result is no record: a statement selects values, and the body of an answer is made of them. */
import type { Request } from 'express';
import type { Action } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import type { ActionRunner } from '../express/resources/controller-metadata.js';
import type { Resource } from '../express/resources/resource.js';
import { currentTarget, type StatementTarget } from '../postgres/index.js';
import type { RequestArguments } from '../request/parse-request.js';
import type { Maybe } from '../util/promises.js';
import { readSessions } from './commit-request.js';
import { answerWith, formatFor, isAlone, type Story } from './handle.js';
import type { HandlerContext } from './handled-route.js';
import { compileAloneTarget, sessionTarget } from './run-rows.js';

interface ValueRead<I> {
  /** The resources whose sessions it runs in. */
  readonly resources: readonly [Resource, ...Resource[]];
  parse(request: Request): Maybe<I>;
  /** True where our SQL may find the values now. */
  isOpen(): boolean;
  /** Makes the body of the answer. @param on null leaves the statements to Sequelize */
  read(input: I, action: Action, on: StatementTarget | null): Promise<object>;
}

/** Compiles the handler. */
export function compileValueHandler<I extends Pick<RequestArguments, 'access'>>(
  { decisions, shaper }: HandlerContext,
  { resources, parse, isOpen, read }: ValueRead<I>,
): ActionRunner {
  const { answer, settings, runner } = decisions;
  const sequelize = resources[0].plan.model.sequelize as Sequelize;
  const isByRows = () => runner === 'rows' && isOpen();
  const story: Story<I, object> = {
    parse,
    around: null,
    aloneTarget: compileAloneTarget(sequelize, settings, runner === 'rows'),
    plan: ({ request }) => (isByRows() && isAlone(sequelize, request) ? 'alone' : 'session'),
    runAlone: (action, input, _around, on) => read(input, action, on),
    shape: (body, _input, format, { response }) => ({
      status: response.statusCode,
      headers: {},
      body: format === 'text' ? JSON.stringify(body) : body,
    }),
    sessions: readSessions(resources, settings),
    async runWithin(action, input) {
      const on = isByRows() ? ((await sessionTarget(sequelize, 'get')) ?? currentTarget(sequelize)) : null;
      return story.shape(await read(input, action, on), input, formatFor(action.response, answer), action);
    },
  };
  return answerWith(story, answer, shaper);
}
