/** Packages that an application of either kind loads. */
import 'reflect-metadata';
import 'class-transformer';
import 'class-validator';
import 'express';
import 'pg';
import 'routing-controllers';
import 'sequelize';
import 'sequelize-typescript';
