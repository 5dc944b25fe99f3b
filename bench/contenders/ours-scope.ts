/** Ours with rows of one tenant for each request. */
import { Exclude } from 'class-transformer';
import { Crud, type CrudOptions, type ModelClass } from 'crud-controllers';
import { AllowNull, Column, DataType, Table } from 'sequelize-typescript';
import { ArticleColumns } from './support/article-columns.js';
import { ARTICLES, COUNTED_ARTICLES, serveApplication } from './support/ours.js';
import { TENANT } from './support/statements.js';

class ColumnsWithTenant extends ArticleColumns {
  /** Answers are those of the others. */
  @Exclude()
  @AllowNull(false)
  @Column(DataType.INTEGER)
  declare tenant: number;
}

const SCOPE: Pick<CrudOptions<ColumnsWithTenant>, 'scope'> = { scope: { tenant: () => TENANT } };

@Crud({ ...ARTICLES, ...SCOPE } as CrudOptions)
@Table({ tableName: 'articles' })
class ScopedArticle extends ColumnsWithTenant {}

@Crud({ ...COUNTED_ARTICLES, ...SCOPE } as CrudOptions)
@Table({ tableName: 'articles' })
class CountedScopedArticle extends ColumnsWithTenant {}

void serveApplication({
  models: [ScopedArticle, CountedScopedArticle] as ModelClass<ArticleColumns>[] as never,
});
