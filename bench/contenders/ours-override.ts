/** Ours with overrides that only call the generated methods. */

import {
  type CreateValues,
  type CrudContext,
  crudController,
  type Id,
  type ListQuery,
  type ReadQuery,
  type UpdateValues,
} from 'crud-controllers';
import { Article, CountedArticle, serveApplication } from './support/ours.js';

class ArticleController extends crudController(Article) {
  override list(query: ListQuery, context: CrudContext<Article>) {
    return super.list(query, context);
  }

  override read(id: Id, query: ReadQuery, context: CrudContext<Article>) {
    return super.read(id, query, context);
  }

  override create(values: CreateValues<Article>, context: CrudContext<Article>) {
    return super.create(values, context);
  }

  override update(id: Id, values: UpdateValues<Article>, context: CrudContext<Article>) {
    return super.update(id, values, context);
  }
}

class CountedArticleController extends crudController(CountedArticle) {
  override list(query: ListQuery, context: CrudContext<CountedArticle>) {
    return super.list(query, context);
  }
}

void serveApplication({ bootstrap: { controllers: [ArticleController, CountedArticleController] } });
