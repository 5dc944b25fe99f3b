/** Rules: all of them depend on the current user of the request. */
import { filter } from 'crud-controllers';
import type { Request } from 'express';
import { UnauthorizedError } from 'routing-controllers';
import type { User } from './models.js';

/** A request behind `signIn`. */
export interface SignedRequest extends Request {
  user?: User;
  /** True where the record of the path is the current user. */
  isCurrent?: boolean;
}

/** The current user. Throws the 401 of a request without one. */
export function userOf({ user }: SignedRequest) {
  if (!user) throw new UnauthorizedError('Sign in first.');
  return user;
}

export const me = (request: SignedRequest) => userOf(request).id;
export const isCurrent = ({ isCurrent = false }: SignedRequest) => isCurrent;
export const isMe = (request: SignedRequest) => filter`id==${me(request)}`;
export const isMine = (request: SignedRequest) => filter`authorId==${me(request)}`;
export const followedByMe = ({ user }: SignedRequest) => filter`followerId==${user?.id ?? 0}`;
export const likedByMe = ({ user }: SignedRequest) => filter`userId==${user?.id ?? 0}`;
