/** Ours with a read schema of the user's, which shows what the derived one does. */
import { Expose } from 'class-transformer';
import { Crud } from 'crud-controllers';
import { Table } from 'sequelize-typescript';
import { ArticleColumns } from './support/article-columns.js';
import { ARTICLES, COUNTED_ARTICLES, serveApplication } from './support/ours.js';

class ArticleView {
  @Expose() id!: number;
  @Expose() title!: string;
  @Expose() body!: string;
  @Expose() category!: string;
  @Expose() author!: string | null;
  @Expose() price!: number;
  @Expose() stock!: number;
  @Expose() active!: boolean;
  @Expose() createdAt!: Date;
  @Expose() updatedAt!: Date;
}

@Crud({ ...ARTICLES, readSchema: ArticleView })
@Table({ tableName: 'articles' })
class ViewedArticle extends ArticleColumns {}

@Crud({ ...COUNTED_ARTICLES, readSchema: ArticleView })
@Table({ tableName: 'articles' })
class CountedViewedArticle extends ArticleColumns {}

void serveApplication({ models: [ViewedArticle, CountedViewedArticle] });
