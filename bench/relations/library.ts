/** The data of relations: a million books of 30,001 writers and 1,000 publishers. Everything is the same in each run. */
import { type Random, randomInteger } from '../load/random.js';

/** Books in all. */
export const BOOKS = 1_000_000;

/** Each of them has as many books. */
const WRITERS = 30_000;

/** The last writer has one of ten books. */
const BOOKS_OF_LAST = BOOKS / 10;

const PUBLISHERS = 1_000;
const COUNTRIES = 1_000;
const CATEGORIES = 1_000;

/** The books of a writer are far from each other, as rows are that come in the course of time. */
export function fillStatements(): readonly string[] {
  const others = `(i - i / ${BOOKS / BOOKS_OF_LAST})`;
  return [
    `CREATE TABLE publishers (
       id integer PRIMARY KEY,
       name varchar(80) NOT NULL,
       city varchar(40) NOT NULL,
       founded integer NOT NULL
     )`,
    `CREATE TABLE writers (
       id integer PRIMARY KEY,
       name varchar(80) NOT NULL,
       country varchar(40) NOT NULL,
       about text NOT NULL,
       born integer NOT NULL
     )`,
    `CREATE TABLE books (
       id integer PRIMARY KEY,
       title varchar(120) NOT NULL,
       category varchar(40) NOT NULL,
       rating integer NOT NULL,
       price double precision NOT NULL,
       "publishedAt" timestamptz(3) NOT NULL,
       "writerId" integer NOT NULL,
       "publisherId" integer
     )`,
    `INSERT INTO publishers
     SELECT i, 'Publisher "No. ' || i || '"', 'City ' || i % 100, 1800 + i % 200
       FROM generate_series(1, ${PUBLISHERS}) AS i`,
    `INSERT INTO writers
     SELECT i, 'Writer number ' || i, 'country-' || abs(hashint4(i)) % ${COUNTRIES},
            md5(i::text) || ' ' || md5((i + 1)::text), 1900 + i % 100
       FROM generate_series(1, ${WRITERS + 1}) AS i`,
    `INSERT INTO books
     SELECT i,
            CASE WHEN i % 10 = 0 THEN 'Café "Zur Post", No. ' || i ELSE 'Book number ' || i END,
            'category-' || abs(hashint4(i)) % ${CATEGORIES},
            1 + abs(hashint4(i + 1)) % 5,
            (abs(hashint4(i + 2)) % 100000) / 100.0,
            timestamptz '2026-01-01 00:00:00Z' + abs(hashint4(i + 3)) % ${BOOKS} * interval '17.123 seconds',
            CASE WHEN i % ${BOOKS / BOOKS_OF_LAST} = 0 THEN ${WRITERS + 1} ELSE 1 + ${others} * 1009 % ${WRITERS} END,
            CASE WHEN i % 20 > 0 THEN 1 + abs(hashint4(i + 4)) % ${PUBLISHERS} END
       FROM generate_series(1, ${BOOKS}) AS i`,
    'ALTER TABLE books ADD FOREIGN KEY ("writerId") REFERENCES writers, ADD FOREIGN KEY ("publisherId") REFERENCES publishers',
    // The index of our index advice: foreign key, order, key.
    'CREATE INDEX ON books ("writerId", "publishedAt" DESC, id DESC)',
    // Indexes of the filters: of writers by values of their books, and of books by values of their writers.
    'CREATE INDEX ON books (category, "writerId")',
    'CREATE INDEX ON writers (country)',
    // Everything is in memory. By default the planner counts with a disk.
    "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET random_page_cost = 1.1', current_database()); END $$",
    'VACUUM (FREEZE, ANALYZE) publishers, writers, books',
    'CHECKPOINT',
  ];
}

/** A country that about 30 writers have. */
export function randomCountry(random: Random): string {
  return `country-${randomInteger(random, 0, COUNTRIES - 1)}`;
}

/** A category that about a thousand books have. */
export function randomCategory(random: Random): string {
  return `category-${randomInteger(random, 0, CATEGORIES - 1)}`;
}
