/** Processor time and memory of processes, from Linux's /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time for programs in hundredths of a second, whatever the clock of the kernel. */
const MICROSECONDS_PER_TICK = 10_000;

/** Times are in ticks. Those of children are of the ones that have ended. */
interface Stat {
  readonly parent: number | undefined;
  readonly user: number;
  readonly system: number;
  readonly childrenUser: number;
  readonly childrenSystem: number;
}

/** Microseconds of processor time that a process has used, all threads. */
export function processorTime(pid: number): number {
  const { user, system } = readStat(pid);
  return (user + system) * MICROSECONDS_PER_TICK;
}

/** The same for a process and its children, ended ones as well: PostgreSQL forks for each connection. */
export function processorTimeOfFamily(pid: number): number {
  let head = readStat(pid);
  for (;;) {
    const time = childrenOf(pid).reduce((sum, child) => sum + timeOfOneThatMayBeGone(child), 0);
    const now = readStat(pid);
    const { user, system, childrenUser, childrenSystem } = now;
    // A child that ended meanwhile may be missing in both, or be in both.
    if (childrenUser === head.childrenUser && childrenSystem === head.childrenSystem) {
      return time + (user + system + childrenUser + childrenSystem) * MICROSECONDS_PER_TICK;
    }
    head = now;
  }
}

/** The largest resident memory that a process and its children have had, in bytes. */
export function peakMemoryOfFamily(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + peakMemory(each), 0);
}

/** The largest resident memory of one process, in bytes. */
export function peakMemory(pid: number): number {
  return readStatus(pid, /^VmHWM:\s+(\d+) kB$/m);
}

/** The resident memory that a process has now, in bytes. */
export function memory(pid: number): number {
  return readStatus(pid, /^VmRSS:\s+(\d+) kB$/m);
}

function readStatus(pid: number, line: RegExp): number {
  const [, kilobytes] = line.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

function timeOfOneThatMayBeGone(pid: number): number {
  try {
    return processorTime(pid);
  } catch {
    return 0;
  }
}

/** See proc_pid_stat(5). The name, in parentheses, may have spaces. */
function readStat(pid: number): Stat {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15);
  return { parent: fields[1], user, system, childrenUser, childrenSystem };
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent);
}

function parentOf(pid: number): number | undefined {
  try {
    return readStat(pid).parent;
  } catch {
    return undefined;
  }
}
