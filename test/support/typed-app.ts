/** A program of the user's: prints the document of `bootstrap` as JSON. Its types depend on the compiler. */
import 'reflect-metadata';
import { IsEmail } from 'class-validator';
import express from 'express';
import { Body, CurrentUser, Get, JsonController, Param, Post, QueryParam, Req } from 'routing-controllers';
import { Sequelize, Table } from 'sequelize-typescript';
import {
  bootstrap,
  Crud,
  crudController,
  InjectRepository,
  InjectUnitOfWork,
  type Repository,
  type UnitOfWork,
} from '../../src/index.js';
import { NumberedRow } from '../models/rows.js';

@Crud()
@Table({ tableName: 'members', timestamps: false })
class Member extends NumberedRow {}

class Invitation {
  @IsEmail() email!: string;
}

class MemberController extends crudController(Member) {
  @Post('/:id/invite')
  invite(@Param('id') id: number, @Body() invitation: Invitation, @InjectUnitOfWork() _uow: UnitOfWork) {
    return { id, invitation };
  }

  @Post('/typed')
  typed(@Body({ type: Invitation }) invitation: Invitation, @QueryParam('n', { type: Number }) n: number) {
    return { invitation, n };
  }

  @Get('/given')
  given(
    @Req() _request: object,
    @CurrentUser() _user: object,
    @InjectRepository(Member) _members: Repository<Member>,
  ) {
    return {};
  }
}

@JsonController('/reports')
class ReportController {
  @Get('/')
  report(@QueryParam('year') year: number) {
    return { year };
  }

  @Reflect.metadata('design:paramtypes', [Number])
  @Get('/:year')
  ofYear(@Param('year') year: number) {
    return { year };
  }
}

new Sequelize({ dialect: 'postgres', logging: false, models: [Member] });
bootstrap(express(), {
  controllers: [MemberController, ReportController],
  logger: { debug() {}, info() {}, warn() {}, error() {} },
}).then(
  () => process.stdout.write('[]'),
  ({ problems }) => process.stdout.write(JSON.stringify(problems)),
);
