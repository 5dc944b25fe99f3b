/** Loaded before a program: prints as soon as the program listens. */
import { Server } from 'node:net';

const prototype: { emit(...args: readonly unknown[]): boolean } = Server.prototype;
const { emit } = prototype;
prototype.emit = function (...args) {
  if (args[0] === 'listening') process.stdout.write('listening\n');
  return Reflect.apply(emit, this, args);
};
