/** routing-controllers, class-validator and Sequelize, put together as each of them documents it. */
import 'reflect-metadata';
import { IsBoolean, IsInt, IsNumber, IsOptional, IsString, MaxLength } from 'class-validator';
import {
  Body,
  createExpressServer,
  Get,
  HttpCode,
  JsonController,
  NotFoundError,
  Param,
  Patch,
  Post,
  QueryParams,
} from 'routing-controllers';
import { HOST, readEnvironment } from './support/environment.js';
import { toPage } from './support/page-query.js';
import { Article, connectArticles, findPage } from './support/sequelize-articles.js';

class ArticleBody {
  @IsString()
  @MaxLength(120)
  title!: string;

  @IsString()
  body!: string;

  @IsString()
  @MaxLength(40)
  category!: string;

  @IsOptional()
  @IsString()
  @MaxLength(80)
  author?: string | null;

  @IsNumber()
  price!: number;

  @IsInt()
  stock!: number;

  @IsBoolean()
  active!: boolean;
}

class ListQuery {
  @IsOptional()
  @IsInt()
  size?: number;

  @IsOptional()
  @IsInt()
  after?: number;

  @IsOptional()
  @IsString()
  category?: string;

  @IsOptional()
  @IsBoolean()
  total?: boolean;
}

@JsonController('/articles')
class ArticleController {
  @Get('/:id')
  async read(@Param('id') id: number) {
    return (await find(id)).toJSON();
  }

  @Get('/')
  async list(@QueryParams() { size = 20, after, category, total = false }: ListQuery) {
    const [rows, count] = await Promise.all([
      findPage({ size, after: after ?? null, category: category ?? null }),
      total ? Article.count() : undefined,
    ]);
    const { items, next } = toPage(rows, size);
    return { items: items.map((article) => article.toJSON()), next, total: count };
  }

  @Post('/')
  @HttpCode(201)
  async create(@Body() values: ArticleBody) {
    return (await Article.create({ ...values })).toJSON();
  }

  @Patch('/:id')
  async update(
    @Param('id') id: number,
    @Body({ validate: { skipMissingProperties: true } }) changes: ArticleBody,
  ) {
    return (await (await find(id)).update({ ...changes })).toJSON();
  }
}

async function find(id: number): Promise<Article> {
  const article = await Article.findByPk(id);
  if (!article) throw new NotFoundError('There is no such article.');
  return article;
}

connectArticles();
createExpressServer({ controllers: [ArticleController] }).listen(readEnvironment().port, HOST);
