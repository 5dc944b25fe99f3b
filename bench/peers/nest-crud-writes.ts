/** NestJS, @dataui/crud and TypeORM with versions, and `createMany`, which is a part of it. */
import 'reflect-metadata';
import { Crud, type CrudController } from '@dataui/crud';
import { TypeOrmCrudService } from '@dataui/crud-typeorm';
import { Controller, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsBoolean, IsInt, IsNumber, IsOptional, IsString, MaxLength } from 'class-validator';
import {
  Column,
  CreateDateColumn,
  Entity,
  PrimaryGeneratedColumn,
  type Repository,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import { CONNECTIONS, DATABASE_URL, HOST, PORT } from './environment.js';

@Entity({ name: 'articles' })
class Article {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', length: 120 })
  title!: string;

  @Column('text')
  body!: string;

  @Column({ type: 'varchar', length: 40 })
  category!: string;

  @Column({ type: 'varchar', length: 80, nullable: true })
  author!: string | null;

  @Column('double precision')
  price!: number;

  @Column('integer')
  stock!: number;

  @Column('boolean')
  active!: boolean;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt!: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt!: Date;

  @VersionColumn()
  version!: number;
}

class CreateArticle {
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

class UpdateArticle {
  @IsOptional()
  @IsString()
  @MaxLength(120)
  title?: string;

  @IsOptional()
  @IsString()
  body?: string;

  @IsOptional()
  @IsString()
  @MaxLength(40)
  category?: string;

  @IsOptional()
  @IsString()
  @MaxLength(80)
  author?: string | null;

  @IsOptional()
  @IsNumber()
  price?: number;

  @IsOptional()
  @IsInt()
  stock?: number;

  @IsOptional()
  @IsBoolean()
  active?: boolean;
}

@Injectable()
class ArticleService extends TypeOrmCrudService<Article> {
  constructor(@InjectRepository(Article) repository: Repository<Article>) {
    super(repository);
  }
}

@Crud({ model: { type: Article }, dto: { create: CreateArticle, update: UpdateArticle } })
@Controller('articles')
class ArticleController implements CrudController<Article> {
  constructor(readonly service: ArticleService) {}
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: DATABASE_URL,
      entities: [Article],
      logging: false,
      extra: { max: CONNECTIONS },
    }),
    TypeOrmModule.forFeature([Article]),
  ],
  providers: [ArticleService],
  controllers: [ArticleController],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  await app.listen(PORT, HOST);
}

void main();
