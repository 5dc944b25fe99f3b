/** Ours with overrides that run in the unit of work of the request: one transaction for each of them, reads as well. */

import {
  type CreateValues,
  type CrudContext,
  crudController,
  type Id,
  InjectUnitOfWork,
  type ListQuery,
  type ReadQuery,
  type UnitOfWork,
  type UpdateValues,
} from 'crud-controllers';
import { Article, CountedArticle, serveApplication } from './support/ours.js';

class ArticleController extends crudController(Article) {
  override list(query: ListQuery, context: CrudContext<Article>, @InjectUnitOfWork() _uow?: UnitOfWork) {
    return super.list(query, context);
  }

  override read(
    id: Id,
    query: ReadQuery,
    context: CrudContext<Article>,
    @InjectUnitOfWork() _uow?: UnitOfWork,
  ) {
    return super.read(id, query, context);
  }

  override create(
    values: CreateValues<Article>,
    context: CrudContext<Article>,
    @InjectUnitOfWork() _uow?: UnitOfWork,
  ) {
    return super.create(values, context);
  }

  override update(
    id: Id,
    values: UpdateValues<Article>,
    context: CrudContext<Article>,
    @InjectUnitOfWork() _uow?: UnitOfWork,
  ) {
    return super.update(id, values, context);
  }
}

class CountedArticleController extends crudController(CountedArticle) {
  override list(
    query: ListQuery,
    context: CrudContext<CountedArticle>,
    @InjectUnitOfWork() _uow?: UnitOfWork,
  ) {
    return super.list(query, context);
  }
}

void serveApplication({ bootstrap: { controllers: [ArticleController, CountedArticleController] } });
