/** The resources of the atlas: its models, and the controllers that replace generated ones. */
export { CityController } from './controllers/city-controller.js';
export { ReviewController } from './controllers/review-controller.js';
export { City } from './models/city.js';
export { Country } from './models/country.js';
export { Review } from './models/review.js';
export { Stop } from './models/stop.js';
export { Theme, TripTheme } from './models/theme.js';
export { Trip } from './models/trip.js';
