/** The cities, with a summary of the reviews of each: the generated controller and a route of our own. */
import { crudController, Repository } from 'crud-controllers';
import { BadRequestError, Get, Param } from 'routing-controllers';
import { col, fn } from 'sequelize';
import { City } from '../models/city.js';
import { Review } from '../models/review.js';

/** What the reviews of a city come to. */
export interface ReviewSummary {
  readonly count: number;
  /** From 1 to 5, with two decimals; null when there is no review. */
  readonly average: number | null;
}

/** Replaces the generated controller of `City`. */
export class CityController extends crudController(City) {
  @Get('/:id/reviews/summary')
  async summarizeReviews(@Param('id') id: string): Promise<ReviewSummary> {
    const { id: cityId } = await new Repository(City).get(parseCityId(id));
    const average = fn('round', fn('avg', col('rating')), 2);
    const [row] = (await Review.findAll({
      attributes: [
        [fn('count', col('id')), 'count'],
        [average, 'average'],
      ],
      where: { cityId },
      raw: true,
    })) as unknown as [{ count: string; average: string | null }];
    return { count: Number(row.count), average: row.average === null ? null : Number(row.average) };
  }
}

/** The routes that are not generated get their parameters as they were sent. */
function parseCityId(raw: string): number {
  if (/^[1-9]\d{0,8}$/.test(raw)) return Number(raw);
  throw new BadRequestError(`'${raw}' is not an id of a City; it must be a whole number.`);
}
