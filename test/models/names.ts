/** Rows with a short name and nothing else: a resource as it is without options. */
import { Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';
import { NamedRow } from './rows.js';

@Crud()
@Table({ tableName: 'names', timestamps: false })
export class Name extends NamedRow {}
