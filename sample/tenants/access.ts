/** All rules of access, in one file. */
import { EVERYTHING, filter } from 'crud-controllers';
import type { Request, RequestHandler } from 'express';
import { UnauthorizedError } from 'routing-controllers';

/** Somebody who has a token. */
export interface Person {
  readonly name: string;
  /** Null for the operator of the service, who belongs to none. */
  readonly organisationId: number | null;
  readonly role: 'manager' | 'member' | 'operator';
}

/** A request behind `authenticate`. */
interface SignedRequest extends Request {
  person?: Person;
}

/** People by token. A real application would check a signature, or read a table. */
const PEOPLE: ReadonlyMap<string, Person> = new Map([
  ['ann-token', { name: 'Ann', organisationId: 1, role: 'manager' }],
  ['ben-token', { name: 'Ben', organisationId: 1, role: 'member' }],
  ['zoe-token', { name: 'Zoe', organisationId: 2, role: 'manager' }],
  ['operator-token', { name: 'Operator', organisationId: null, role: 'operator' }],
]);

/** Finds the person of a token. A request without a known token is refused. */
export const authenticate: RequestHandler = (request: SignedRequest, _response, next) => {
  const [, token = ''] = /^Bearer (\S+)$/.exec(request.get('Authorization') ?? '') ?? [];
  const person = PEOPLE.get(token);
  if (!person) return next(new UnauthorizedError('Send a token: Authorization: Bearer …'));
  request.person = person;
  next();
};

/** The scope of all models that have an organisation: no id is no access, and only the operator sees all. */
export const organisation = ({ person }: SignedRequest) =>
  person?.role === 'operator' ? EVERYTHING : person?.organisationId;

/** Managers see every task of their organisation; members see what is not a draft, and their own drafts. */
export const tasks = ({ person }: SignedRequest) =>
  person?.role === 'member' ? filter`isDraft==false,author==${person.name}` : EVERYTHING;

export const isManager = ({ person }: SignedRequest): boolean => person?.role !== 'member';

export const isOperator = ({ person }: SignedRequest): boolean => person?.role === 'operator';
