/**
 * One stream for several resources. The request goes through the route of each, so that its dependencies, guards and rules hold, and the last
 * one opens the stream.
 */
import type { Request, RequestHandler, Router } from 'express';
import type { Resource } from '../../express/resources/resource.js';
import { parseQueryString, repeatedIssue, unknownParameter } from '../../request/query/query-string.js';
import { InvalidQueryError, type RequestIssue } from '../../schema/request-issue.js';
import { changesPath } from '../capture/capture-options.js';
import { feedName } from './change-event.js';
import type { Condition } from './judge.js';

/** A request on its way through the routes of several resources. */
export interface JointFeed {
  readonly after: string | undefined;
  /** Adds the condition of a resource. @returns all of them behind the last one; null where the request goes on */
  add(asked: Condition): readonly Condition[] | null;
}

const joint = new WeakMap<Request, JointFeed>();

/** The feed that a request is for; undefined where it is for one resource. */
export function jointFeedOf(request: Request): JointFeed | undefined {
  return joint.get(request);
}

const parameter = 'resources';
const NAMES = [parameter, 'after'];
/** Characters of a wrong name that an error repeats. */
const MAX_NAME = 100;

/** Handles a request for several resources. */
export function jointHandler(resources: readonly Resource[], router: Router): RequestHandler {
  const byName = new Map(resources.map((resource) => [feedName(resource.plan), resource]));
  return (request, response, next) => {
    const { names, after } = readQuery(request, [...byName.keys()]);
    const asked: Condition[] = [];
    const { url } = request;
    const goOn = () => {
      const { plan } = byName.get(names[asked.length] as string) as Resource;
      // routing-controllers leaves a request alone that one of its routes has begun to answer.
      Object.assign(request, { routingControllersStarted: false });
      request.url = changesPath(plan);
      router(request, response, next);
    };
    joint.set(request, {
      after,
      add(one) {
        asked.push(one);
        if (asked.length === names.length) {
          request.url = url;
          return asked;
        }
        setImmediate(goOn);
        return null;
      },
    });
    goOn();
  };
}

/** @throws InvalidQueryError */
function readQuery(request: Request, known: readonly string[]) {
  const { parameters, issues } = parseQueryString(request.url);
  const found: RequestIssue[] = [...issues];
  for (const name of parameters.keys()) if (!NAMES.includes(name)) found.push(unknownParameter(name, NAMES));
  const names = parameters.get(parameter)?.split(',');
  const unknown = names?.filter((name) => !known.includes(name)) ?? [];
  const faults = names ? unknown.map((name) => `names '${name.slice(0, MAX_NAME)}'`) : ['is missing'];
  for (const fault of faults) {
    const detail = `Parameter 'resources' ${fault}; it accepts ${known.join(', ')}.`;
    found.push({ parameter, code: 'changes.resources', detail });
  }
  if (new Set(names).size < (names?.length ?? 0)) found.push(repeatedIssue(parameter));
  if (request.accepts(['application/json', 'text/event-stream']) !== 'text/event-stream') {
    const detail = 'Several resources have a stream alone; send Accept: text/event-stream.';
    found.push({ parameter, code: 'changes.accept', detail });
  }
  if (found.length > 0 || !names) throw new InvalidQueryError(found);
  return { names, after: parameters.get('after') };
}
