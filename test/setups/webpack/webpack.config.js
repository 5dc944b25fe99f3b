const path = require('node:path');

module.exports = {
  mode: 'production',
  target: 'node',
  entry: './dist/main.js',
  output: { path: path.resolve('../bundle'), filename: 'main.js' },
  // By the field `module`, class-transformer would be bundled twice.
  resolve: { mainFields: ['main'] },
  externals: { cors: 'commonjs cors', '@koa/cors': 'commonjs @koa/cors', 'pg-hstore': 'commonjs pg-hstore' },
  optimization: { minimize: false },
};
