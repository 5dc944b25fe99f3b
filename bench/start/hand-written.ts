/** Models and controllers by hand: a read, a list, a create and an update of each model. */
import { IsBoolean, IsInt, IsNumber, IsOptional, IsString, MaxLength } from 'class-validator';
import {
  Body,
  Get,
  HttpCode,
  JsonController,
  NotFoundError,
  Param,
  Patch,
  Post,
  QueryParams,
} from 'routing-controllers';
import { type ModelCtor, Table } from 'sequelize-typescript';
import { ArticleColumns } from '../contenders/support/article-columns.js';
import { pathOf } from './phases.js';

type ArticleModel = ModelCtor<ArticleColumns>;

/** Models of the table `articles`. */
export function handWrittenModels(count: number): ArticleModel[] {
  return Array.from({ length: count }, (_, index) => {
    const model = Object.defineProperty(class extends ArticleColumns {}, 'name', {
      value: `Article${index}`,
    });
    Table({ tableName: 'articles', timestamps: true })(model);
    return model;
  });
}

/** A controller of each model. */
export function handWrittenControllers(models: readonly ArticleModel[]) {
  return models.map((model, index) => controllerOf(model, pathOf(index)));
}

function controllerOf(model: ArticleModel, path: string) {
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
    page?: number;
  }

  const find = async (id: number) => {
    const record = await model.findByPk(id);
    if (!record) throw new NotFoundError('There is no such article.');
    return record;
  };

  @JsonController(path)
  class ArticleController {
    @Get('/:id')
    async read(@Param('id') id: number) {
      return (await find(id)).toJSON();
    }

    @Get('/')
    async list(@QueryParams() { size = 20, page = 0 }: ListQuery) {
      const records = await model.findAll({ order: [['id', 'ASC']], limit: size, offset: page * size });
      return records.map((record) => record.toJSON());
    }

    @Post('/')
    @HttpCode(201)
    async create(@Body() values: ArticleBody) {
      return (await model.create({ ...values })).toJSON();
    }

    @Patch('/:id')
    async update(
      @Param('id') id: number,
      @Body({ validate: { skipMissingProperties: true } }) changes: ArticleBody,
    ) {
      return (await (await find(id)).update({ ...changes })).toJSON();
    }
  }
  return ArticleController;
}
