/** Ours with records that two columns address. */
import { Crud, type ModelClass } from 'crud-controllers';
import { AllowNull, Column, DataType, PrimaryKey, Table } from 'sequelize-typescript';
import { ArticleColumns } from './support/article-columns.js';
import { ARTICLES, COUNTED_ARTICLES, serveApplication } from './support/ours.js';

class ColumnsWithTwoKeys extends ArticleColumns {
  @PrimaryKey
  @AllowNull(false)
  @Column(DataType.BOOLEAN)
  declare active: boolean;
}

@Crud(ARTICLES)
@Table({ tableName: 'articles' })
class KeyedArticle extends ColumnsWithTwoKeys {}

@Crud(COUNTED_ARTICLES)
@Table({ tableName: 'articles' })
class CountedKeyedArticle extends ColumnsWithTwoKeys {}

void serveApplication({
  models: [KeyedArticle, CountedKeyedArticle] as ModelClass<ArticleColumns>[] as never,
});
