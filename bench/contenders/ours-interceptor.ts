/** Ours with an interceptor for all routes, which changes nothing. */
import { type Action, Interceptor, type InterceptorInterface } from 'routing-controllers';
import { serveApplication } from './support/ours.js';

@Interceptor()
class Passing implements InterceptorInterface {
  intercept(_action: Action, content: unknown): unknown {
    return content;
  }
}

void serveApplication({ bootstrap: { routing: { interceptors: [Passing] } } });
