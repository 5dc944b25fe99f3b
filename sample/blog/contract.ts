/** The contract of the clients: its paths, parameters and envelopes, in front of the resources. */
import { Repository } from 'crud-controllers';
import express, { type Request, Router } from 'express';
import { type Action, BadRequestError, Interceptor, type InterceptorInterface } from 'routing-controllers';
import { followedByMe, likedByMe, type SignedRequest, userOf } from './access.js';
import { Article } from './models.js';
import { tokenOf } from './sign-in.js';

// biome-ignore lint/suspicious/noExplicitAny: the answer of any resource, as values
type Answer = any;
type Find = (request: ContractRequest) => string;
type Envelope = (answer: Answer, request: ContractRequest) => object | Promise<object>;

/** A request with the envelope of its answer. */
interface ContractRequest extends SignedRequest {
  envelope?: Envelope | undefined;
}

/** Puts answers into the envelopes of the contract. */
@Interceptor()
export class Enveloper implements InterceptorInterface {
  intercept({ request }: Action, answer: Answer) {
    const { envelope } = request as ContractRequest;
    return envelope && answer ? envelope(answer, request) : answer;
  }
}

const articles = new Repository(Article);
const VIEW = 'include=author,fans,likes,mine&likes.size=0&likes.count=exact';

/** Takes the body out of its envelope, and leads each path of the contract to that of a resource. */
export const contract = Router();
contract.use(express.json(), (request, _response, next) => {
  const { body } = request;
  if (body) request.body = body.user ?? body.article ?? body.comment ?? {};
  next();
});
lead('POST /users', '/users', inUser);
lead('POST /users/login', '/users/login', inUser);
lead('GET /user', ownPath, inUser);
lead('PUT /user', ownPath, inUser, 'PATCH');
lead('GET /profiles/:name', '/users/:name?include=followers', inProfile);
lead('POST /profiles/:name/follow', '/users/:name/follow', inProfile);
lead('DELETE /profiles/:name/follow', '/users/:name/follow', inProfile);
lead('GET /articles', (request) => listPath(request), inList);
lead(
  'GET /articles/feed',
  (request) => listPath(request, `fans=any=(followerId==${userOf(request).id})`),
  inList,
);
lead('GET /articles/:slug', `/articles/:slug?${VIEW}`, inArticle);
lead('POST /articles', '/articles', inArticle);
lead('PUT /articles/:slug', '/articles/:slug', inArticle, 'PATCH');
lead('POST /articles/:slug/favorite', '/articles/:slug/favorite', inArticle);
lead('DELETE /articles/:slug/favorite', '/articles/:slug/favorite', inArticle);
lead(
  'GET /articles/:slug/comments',
  '/articles/:slug/comments?include=author.followers&size=100',
  inComments,
);
lead('POST /articles/:slug/comments', '/articles/:slug/comments', inComment);
lead('DELETE /articles/:slug/comments/:id', '/comments/:id');
lead('GET /tags', '/articles/tags');

function lead(route: string, target: string | Find, envelope?: Envelope, method?: string): void {
  const [verb = '', path = ''] = route.split(' ');
  contract[verb.toLowerCase() as 'get'](path, (request: ContractRequest, _response, next) => {
    const part = (_: string, name: string) => encodeURIComponent(String(request.params[name]));
    request.isCurrent = envelope === inUser;
    request.envelope = envelope;
    request.method = method ?? verb;
    request.url = typeof target === 'string' ? target.replace(/:(\w+)/g, part) : target(request);
    next('router');
  });
}

function ownPath(request: SignedRequest): string {
  return `/users/${encodeURIComponent(userOf(request).username)}`;
}

/** The list of articles, with the parameters of the contract in the language of `q`. */
function listPath({ query }: Request, ...conditions: string[]): string {
  const { tag, author, favorited, limit = '20', offset = '0', ...others } = query as Record<string, string>;
  if (tag) conditions.push(`tagList=contains=${quote(tag)}`);
  if (author) conditions.push(`author.username==${quote(author)}`);
  if (favorited) conditions.push(`likes=any=(user.username==${quote(favorited)})`);
  const page = Number(offset) / Number(limit) + 1;
  if (!Number.isInteger(page)) throw new BadRequestError('offset has to be a multiple of limit.');
  const q = conditions.length > 0 ? { q: conditions.join(';') } : {};
  return `/articles?${VIEW}&${new URLSearchParams({ ...others, ...q, page: String(page), size: limit })}`;
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

async function inUser({ id, email, username, bio, image }: Answer) {
  return { user: { email, username, bio, image, token: await tokenOf(id) } };
}

function inProfile(user: Answer, { method }: Request) {
  return { profile: profileOf(user, user.followers ?? (method === 'POST' ? [user] : [])) };
}

function inList({ items, total }: Answer) {
  return { articles: items.map(articleOf), articlesCount: total };
}

/** Writes answer without relations. */
async function inArticle(article: Answer, request: ContractRequest) {
  if ('author' in article) return { article: articleOf(article) };
  const fans = { filter: followedByMe(request) };
  const mine = { filter: likedByMe(request) };
  const written = await articles.get(article.slug, { include: { author: true, fans, mine } });
  const [total] = await articles.countRelated([written], 'likes');
  return { article: articleOf({ ...written.get(), likes: { total } }) };
}

function articleOf({ id, authorId, author, fans, likes, mine, ...own }: Answer) {
  const favorites = { favorited: sizeOf(mine) > 0, favoritesCount: likes.total };
  return { ...own, ...favorites, author: profileOf(author, fans) };
}

function inComments({ items }: Answer) {
  return { comments: items.map(commentOf) };
}

function inComment(comment: Answer, { user }: ContractRequest) {
  return { comment: commentOf({ ...comment, author: user }) };
}

function commentOf({ articleId, authorId, author, ...own }: Answer) {
  return { ...own, author: profileOf(author, author.followers) };
}

function profileOf({ username, bio, image }: Answer, followers: Answer) {
  return { username, bio, image, following: sizeOf(followers) > 0 };
}

/** Number of the rows of a relation, in an answer or in a record. */
function sizeOf(rows: Answer): number {
  return (rows?.items ?? rows ?? []).length;
}
