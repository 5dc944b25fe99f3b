/**
 * The types of clients whose packages not every application has installed. Where one is missing, its type is `any`: the
 * comments below are part of the published types, and keep the compiler from refusing those for the missing package.
 */

// biome-ignore-start lint/suspicious/noTsIgnore: where the package is installed there is no error to expect
/** @ts-ignore */
export type { ClickHouseClient } from '@clickhouse/client';
/** @ts-ignore */
export type { Cluster, Redis } from 'ioredis';
// biome-ignore-end lint/suspicious/noTsIgnore: where the package is installed there is no error to expect
