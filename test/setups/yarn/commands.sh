yarn init --yes
yarn add crud-controllers express routing-controllers class-validator@^0.14.2 class-transformer sequelize sequelize-typescript pg reflect-metadata
yarn add --dev typescript@6 @types/node @types/express
yarn tsc
yarn node dist/main.js
