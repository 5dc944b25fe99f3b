/** A model in a file of its own, for engines that load theirs by path. */
import { Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';
import { NumberedRow } from '../models/rows.js';

@Crud()
@Table({ tableName: 'coins', timestamps: false })
export class Coin extends NumberedRow {}
