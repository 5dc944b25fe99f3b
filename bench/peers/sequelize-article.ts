/** The model as Sequelize documents it, for the peers that need one. */
import { DataTypes, Sequelize } from 'sequelize';
import { CONNECTIONS, DATABASE_URL } from './environment.js';

/** Connections are opened when they are needed. */
export const sequelize = new Sequelize(DATABASE_URL, {
  dialect: 'postgres',
  logging: false,
  pool: { max: CONNECTIONS },
});

export const Article = sequelize.define(
  'Article',
  {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    title: { type: DataTypes.STRING(120), allowNull: false },
    body: { type: DataTypes.TEXT, allowNull: false },
    category: { type: DataTypes.STRING(40), allowNull: false },
    author: { type: DataTypes.STRING(80) },
    price: { type: DataTypes.DOUBLE, allowNull: false },
    stock: { type: DataTypes.INTEGER, allowNull: false },
    active: { type: DataTypes.BOOLEAN, allowNull: false },
  },
  { tableName: 'articles' },
);
