/** NestJS, @dataui/crud and TypeORM with joins. They have no limit, and sorting by them breaks pages, so that an override does both. */
import 'reflect-metadata';
import { Crud, type CrudController, type CrudRequest, Override, ParsedRequest } from '@dataui/crud';
import { TypeOrmCrudService } from '@dataui/crud-typeorm';
import { Controller, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn, type Repository } from 'typeorm';
import { CONNECTIONS, DATABASE_URL, HOST, PORT } from './environment.js';

/** Children of each record. */
const CHILDREN = 3;

@Entity({ name: 'publishers' })
class Publisher {
  @PrimaryColumn('integer')
  id!: number;

  @Column({ type: 'varchar', length: 80 })
  name!: string;

  @Column({ type: 'varchar', length: 40 })
  city!: string;

  @Column('integer')
  founded!: number;
}

@Entity({ name: 'writers' })
class Writer {
  @PrimaryColumn('integer')
  id!: number;

  @Column({ type: 'varchar', length: 80 })
  name!: string;

  @Column({ type: 'varchar', length: 40 })
  country!: string;

  @Column('text')
  about!: string;

  @Column('integer')
  born!: number;

  @OneToMany(
    () => Book,
    (book) => book.writer,
  )
  books?: Book[];
}

@Entity({ name: 'books' })
class Book {
  @PrimaryColumn('integer')
  id!: number;

  @Column({ type: 'varchar', length: 120 })
  title!: string;

  @Column({ type: 'varchar', length: 40 })
  category!: string;

  @Column('integer')
  rating!: number;

  @Column('double precision')
  price!: number;

  @Column({ type: 'timestamptz' })
  publishedAt!: Date;

  @Column('integer')
  writerId!: number;

  @Column({ type: 'integer', nullable: true })
  publisherId!: number | null;

  @ManyToOne(
    () => Writer,
    (writer) => writer.books,
  )
  @JoinColumn({ name: 'writerId' })
  writer?: unknown;

  @ManyToOne(() => Publisher)
  @JoinColumn({ name: 'publisherId' })
  publisher?: unknown;
}

@Injectable()
class BookService extends TypeOrmCrudService<Book> {
  constructor(@InjectRepository(Book) repository: Repository<Book>) {
    super(repository);
  }
}

@Injectable()
class WriterService extends TypeOrmCrudService<Writer> {
  constructor(@InjectRepository(Writer) repository: Repository<Writer>) {
    super(repository);
  }
}

@Crud({ model: { type: Book }, query: { join: { writer: {} } } })
@Controller('books')
class BookController implements CrudController<Book> {
  constructor(readonly service: BookService) {}

  @Override()
  async getMany(@ParsedRequest() request: CrudRequest): Promise<object> {
    const found = await this.service.getMany(request);
    const isFiltered = request.parsed.filter.length > 0;
    const items = (Array.isArray(found) ? found : found.data) as Book[];
    return isFiltered ? items.map(({ writer: _, ...own }) => own) : items;
  }
}

@Crud({ model: { type: Writer }, query: { join: { books: {}, 'books.publisher': {} } } })
@Controller('writers')
class WriterController implements CrudController<Writer> {
  constructor(readonly service: WriterService) {}

  @Override()
  async getMany(@ParsedRequest() request: CrudRequest): Promise<object> {
    const found = await this.service.getMany(request);
    const isFiltered = request.parsed.filter.length > 0;
    const items = (Array.isArray(found) ? found : found.data) as Writer[];
    return items.map(({ books, ...own }) => (isFiltered || !books ? own : { ...own, books: firstOf(books) }));
  }
}

function firstOf(books: Book[]): object {
  books.sort((one, other) => +other.publishedAt - +one.publishedAt || other.id - one.id);
  return { items: books.slice(0, CHILDREN), has_next: books.length > CHILDREN };
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: DATABASE_URL,
      entities: [Publisher, Writer, Book],
      logging: false,
      extra: { max: CONNECTIONS },
    }),
    TypeOrmModule.forFeature([Writer, Book]),
  ],
  providers: [BookService, WriterService],
  controllers: [BookController, WriterController],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  await app.listen(PORT, HOST);
}

void main();
