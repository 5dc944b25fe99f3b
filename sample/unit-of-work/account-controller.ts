/** The accounts, with a route that moves money: three writes in one unit of work. */
import { IsInt, Min } from 'class-validator';
import { crudController, InjectUnitOfWork, NotFoundError, type UnitOfWork } from 'crud-controllers';
import { BadRequestError, Body, HttpCode, HttpError, Param, Post } from 'routing-controllers';
import { Account } from './account.js';
import { Transfer } from './transfer.js';

/** The body of a transfer. */
export class TransferOrder {
  /** The account that gets the money. */
  @IsInt()
  declare to: number;

  /** Cents. */
  @IsInt()
  @Min(1)
  declare amount: number;
}

/** Replaces the generated controller of `Account`. */
export class AccountController extends crudController(Account) {
  /** Whatever is thrown here, or fails at the commit, undoes all of it; the client gets 201 only after the commit. */
  @Post('/:id/transfers')
  @HttpCode(201)
  async transfer(
    @Param('id') id: number,
    @Body() { to, amount }: TransferOrder,
    @InjectUnitOfWork() uow: UnitOfWork,
  ): Promise<Transfer> {
    if (id === to) throw new BadRequestError('The two accounts are the same.');
    const [payer, payee] = await lockAccounts(uow, id, to);
    if (payer.balance < amount) throw new HttpError(409, 'There is not enough money in the account.');
    const accounts = uow.repository(Account);
    await accounts.update(payer.id, { balance: payer.balance - amount });
    await accounts.update(payee.id, { balance: payee.balance + amount });
    uow.afterCommit(() => process.stdout.write(`${payer.owner} -> ${payee.owner}: ${amount}\n`));
    return uow.repository(Transfer).create({ fromId: payer.id, toId: payee.id, amount });
  }
}

/**
 * Nobody else changes the two accounts until the unit of work ends. They are locked in the order of their ids: of two
 * transfers in opposite directions, one waits for the other instead of both for each other.
 */
async function lockAccounts(
  { transaction }: UnitOfWork,
  ...ids: [number, number]
): Promise<[Account, Account]> {
  const found = await Account.findAll({ where: { id: ids }, order: ['id'], lock: true, transaction });
  const [payer, payee] = ids.map((id) => found.find((account) => account.id === id));
  if (!payer || !payee) throw new NotFoundError('There is no such account.');
  return [payer, payee];
}
