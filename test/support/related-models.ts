/** Models with relations of every kind, without a database. */
import { DataTypes, type ModelAttributes, Sequelize } from 'sequelize';
import type { ModelClass } from '../../src/declare/crud-options.js';

/** Cities, with the models that they belong to, and that belong to them. New ones, attached to one instance. */
export function relatedModels() {
  const sequelize = new Sequelize({ dialect: 'postgres', logging: false });
  const define = (name: string, attributes: ModelAttributes): ModelClass =>
    sequelize.define(name, attributes, { timestamps: false });
  const Planet = define('Planet', { name: DataTypes.TEXT });
  const Continent = define('Continent', { name: DataTypes.TEXT });
  const Country = define('Country', {
    name: DataTypes.TEXT,
    region: DataTypes.TEXT,
    secret: DataTypes.TEXT,
    flag: DataTypes.BLOB,
  });
  const City = define('City', { name: DataTypes.TEXT, size: DataTypes.INTEGER });
  const Review = define('Review', { rating: DataTypes.INTEGER, text: DataTypes.TEXT });
  const Author = define('Author', { name: DataTypes.TEXT });
  const Tag = define('Tag', { name: DataTypes.TEXT });
  Continent.belongsTo(Planet, { as: 'planet' });
  Country.belongsTo(Continent, { as: 'continent' });
  Country.hasMany(City, { as: 'cities', foreignKey: 'countryId' });
  City.belongsTo(Country, { as: 'country', foreignKey: 'countryId' });
  City.hasMany(Review, { as: 'reviews', foreignKey: 'cityId' });
  City.belongsToMany(Tag, { as: 'tags', through: 'CityTag' });
  Review.belongsTo(Author, { as: 'author' });
  return { Planet, Continent, Country, City, Review, Author, Tag };
}
