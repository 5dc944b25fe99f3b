module.exports = {
  roots: ['<rootDir>/src'],
  transform: { '\\.ts$': ['ts-jest', { diagnostics: { ignoreCodes: [151002] } }] },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};
