/** Ours with a getter on one attribute, which returns the value of the column. */
import { Crud } from 'crud-controllers';
import { AllowNull, Column, DataType, Table } from 'sequelize-typescript';
import { ArticleColumns } from './support/article-columns.js';
import { ARTICLES, COUNTED_ARTICLES, serveApplication } from './support/ours.js';

class ColumnsWithGetter extends ArticleColumns {
  @AllowNull(false)
  @Column({
    type: DataType.STRING(120),
    get(this: ColumnsWithGetter) {
      return this.getDataValue('title');
    },
  })
  declare title: string;
}

@Crud(ARTICLES)
@Table({ tableName: 'articles' })
class ArticleWithGetter extends ColumnsWithGetter {}

@Crud(COUNTED_ARTICLES)
@Table({ tableName: 'articles' })
class CountedArticleWithGetter extends ColumnsWithGetter {}

void serveApplication({ models: [ArticleWithGetter, CountedArticleWithGetter] });
