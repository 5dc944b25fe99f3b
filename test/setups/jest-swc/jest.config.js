module.exports = {
  roots: ['<rootDir>/src'],
  transform: { '\\.ts$': '@swc/jest' },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};
