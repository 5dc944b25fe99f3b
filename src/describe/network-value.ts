/** Texts of addresses of networks and of their cards, in the forms in which PostgreSQL writes them. */
import type { NetworkForm } from './column-type.js';

interface Form {
  /** The end of a sentence that begins with the value. */
  readonly noun: string;
  readonly example: string;
  /** The form as far as JSON Schema can say it. */
  readonly pattern?: string;
  readonly holds: (text: string) => boolean;
}

const CARD = '^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}$';
const LONG_CARD = '^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){7}$';

/** The facts of each type. */
export const NETWORK_FORMS: Readonly<Record<NetworkForm, Form>> = Object.freeze({
  inet: {
    noun: 'an IPv4 or IPv6 address, with or without a number of bits, such as 10.1.2.3 or 10.1.2.3/8',
    example: '10.1.2.3',
    holds: (text) => parseAddress(text) !== undefined,
  },
  cidr: {
    noun: 'a network with a number of bits and zeros behind them, such as 10.0.0.0/8',
    example: '10.0.0.0/8',
    holds: isNetwork,
  },
  macaddr: {
    noun: 'a MAC address such as 08:00:2b:01:02:03',
    example: '08:00:2b:01:02:03',
    pattern: CARD,
    holds: (text) => new RegExp(CARD).test(text),
  },
  macaddr8: {
    noun: 'a MAC address of 64 bits such as 08:00:2b:ff:fe:01:02:03',
    example: '08:00:2b:ff:fe:01:02:03',
    pattern: LONG_CARD,
    holds: (text) => new RegExp(LONG_CARD).test(text),
  },
});

interface Address {
  readonly number: bigint;
  readonly width: 32 | 128;
  /** Undefined where the text has none. */
  readonly bits: number | undefined;
}

const ADDRESS = /^([0-9A-Fa-f:.]+)(?:\/(0|[1-9]\d{0,2}))?$/;

function parseAddress(text: string): Address | undefined {
  const [, host = '', length] = ADDRESS.exec(text) ?? [];
  const width = host.includes(':') ? 128 : 32;
  const number = width === 32 ? shortNumber(host) : longNumber(host);
  const bits = length === undefined ? undefined : Number(length);
  if (number === undefined || (bits !== undefined && bits > width)) return undefined;
  return { number, width, bits };
}

/** PostgreSQL refuses a network with a host in it. */
function isNetwork(text: string): boolean {
  const address = parseAddress(text);
  if (address?.bits === undefined) return false;
  return BigInt.asUintN(address.width - address.bits, address.number) === 0n;
}

const BYTE = /^(?:0|[1-9]\d{0,2})$/;
const GROUP = /^[0-9A-Fa-f]{1,4}$/;
const GROUPS = 8;

function shortNumber(host: string): bigint | undefined {
  const bytes = host.split('.');
  if (bytes.length !== 4 || !bytes.every((byte) => BYTE.test(byte) && Number(byte) < 256)) return undefined;
  return bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
}

/** The last 32 bits may be written as an address of IPv4. */
function longNumber(host: string): bigint | undefined {
  const [, before = '', short] = /^(.*:)([^:]*\..*)$/.exec(host) ?? [];
  const quad = short === undefined ? undefined : shortNumber(short);
  if (short !== undefined && quad === undefined) return undefined;
  const plain =
    quad === undefined ? host : `${before}${(quad >> 16n).toString(16)}:${(quad & 0xffffn).toString(16)}`;
  const parts = plain.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const [head = [], tail = []] = parts;
  const missing = GROUPS - head.length - tail.length;
  if (parts.length > 2 || (parts.length === 2 ? missing < 1 : missing !== 0)) return undefined;
  const groups = [...head, ...Array<string>(missing).fill('0'), ...tail];
  if (!groups.every((group) => GROUP.test(group))) return undefined;
  return groups.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
}
