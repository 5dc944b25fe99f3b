/** The cities, with a summary of the reviews of each and a list of the capitals: the generated controller, and routes of our own. */
import {
  crudController,
  InjectListQuery,
  InjectRecord,
  InjectRepository,
  type OffsetListQuery,
  type Repository,
} from 'crud-controllers';
import { Get } from 'routing-controllers';
import { col, fn } from 'sequelize';
import { City } from '../models/city.js';
import { Review } from '../models/review.js';

/** The number of reviews of a city, and their average. */
export interface ReviewSummary {
  readonly count: number;
  /** From 1 to 5, with two decimals; null when there is no review. */
  readonly average: number | null;
}

/** Replaces the generated controller of `City`. */
export class CityController extends crudController(City) {
  @Get('/capitals')
  listCapitals(@InjectListQuery() query: OffsetListQuery, @InjectRepository(City) cities: Repository<City>) {
    return cities.page({ ...query, where: { featureCode: 'PPLC' } });
  }

  @Get('/:id/reviews/summary')
  async summarizeReviews(@InjectRecord() { id: cityId }: City): Promise<ReviewSummary> {
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
