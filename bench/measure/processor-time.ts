/** Processor time and memory of processes, from Linux's /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time for programs in hundredths of a second, whatever the clock of the kernel. */
const MICROSECONDS_PER_TICK = 10_000;

/** Times are in ticks. Those of children are of the ones that have ended. */
interface Stat {
  readonly pid: number;
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

/** The same for a process and its descendants, ended ones as well: PostgreSQL forks for each connection. */
export function processorTimeOfFamily(pid: number): number {
  let head = readStat(pid);
  for (;;) {
    const others = descendantsOf(pid).reduce((sum, each) => sum + timeOf(each), 0);
    const now = readStat(pid);
    // A child that ended meanwhile may be missing in both, or be in both.
    if (now.childrenUser === head.childrenUser && now.childrenSystem === head.childrenSystem)
      return others + timeOf(now);
    head = now;
  }
}

function timeOf({ user, system, childrenUser, childrenSystem }: Stat): number {
  return (user + system + childrenUser + childrenSystem) * MICROSECONDS_PER_TICK;
}

/** The largest resident memory that a process and its descendants have had, in bytes. */
export function peakMemoryOfFamily(pid: number): number {
  return descendantsOf(pid).reduce((sum, each) => sum + peakMemory(each.pid), peakMemory(pid));
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

/** See proc_pid_stat(5). The name, in parentheses, may have spaces. */
function readStat(pid: number): Stat {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15);
  return { pid, parent: fields[1], user, system, childrenUser, childrenSystem };
}

function descendantsOf(pid: number, all = readStats()): readonly Stat[] {
  const children = all.filter(({ parent }) => parent === pid);
  return children.flatMap((each) => [each, ...descendantsOf(each.pid, all)]);
}

/** Reads the processes of the machine. One may end before it is read. */
function readStats(): readonly Stat[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d/.test(name) ? readStat(Number(name)) : [];
    } catch {
      return [];
    }
  });
}
