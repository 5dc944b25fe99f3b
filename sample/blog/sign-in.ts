/** Passwords, of which tables have hashes, and tokens: JSON web tokens for a day. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { RequestHandler } from 'express';
import { jwtVerify, SignJWT } from 'jose';
import { UnauthorizedError } from 'routing-controllers';
import type { SignedRequest } from './access.js';
import { User } from './models.js';

const SECRET = new TextEncoder().encode(process.env['JWT_SECRET'] ?? 'a secret of at least 32 characters');
const derive = promisify<string, Buffer, number, Buffer>(scrypt);

/** The salt and the hash, as one text. */
export async function hashPassword(password: string, salt = randomBytes(16)): Promise<string> {
  const hash = await derive(password, salt, 32);
  return `${salt.toString('base64')}:${hash.toString('base64')}`;
}

/** True for the password that was hashed. */
export async function isPassword(password: string, hashed: string): Promise<boolean> {
  const [salt = ''] = hashed.split(':');
  const expected = await hashPassword(password, Buffer.from(salt, 'base64'));
  return timingSafeEqual(Buffer.from(expected), Buffer.from(hashed));
}

/** A token of the user with this id. */
export function tokenOf(id: number): Promise<string> {
  const token = new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject(String(id));
  return token.setExpirationTime('1d').sign(SECRET);
}

/** Finds the user of the token. A request without a token has none. */
export const signIn: RequestHandler = async (request: SignedRequest, _response, next) => {
  const [, token] = /^Token (.+)$/.exec(request.get('Authorization') ?? '') ?? [];
  if (token === undefined) return next();
  const verified = await jwtVerify(token, SECRET, { algorithms: ['HS256'] }).catch(() => null);
  const user = await User.findByPk(verified?.payload.sub ?? 0);
  if (!user) return next(new UnauthorizedError('Send a valid token in the header Authorization: Token.'));
  request.user = user;
  next();
};
