/** The reviews, cleaned up before they are stored: the generated controller with one method overridden. */
import { type CrudContext, crudController } from 'crud-controllers';
import type { CreationAttributes } from 'sequelize';
import { Review } from '../models/review.js';

/** Replaces the generated controller of `Review`. */
export class ReviewController extends crudController(Review) {
  override create(values: CreationAttributes<Review>, context: CrudContext<Review>): Promise<Review> {
    const text = values.text?.trim() || null;
    return super.create({ ...values, text }, context);
  }
}
