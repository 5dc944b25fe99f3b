/** Measures the processor time of a process and of all that it has started. */
const { readdirSync, readFileSync } = require('node:fs');
const process = require('node:process');

/** Linux counts in hundredths of a second, whatever the clock of the kernel. */
const TICKS_A_SECOND = 100;

/**
 * The seconds that this process, its children and theirs have computed until now. Children that have ended are in those of
 * their parent. Where there is no `/proc`, it is this process alone.
 */
exports.processorTime = () => {
  let folders;
  try {
    folders = readdirSync('/proc').filter((name) => /^\d/.test(name));
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  const all = folders.flatMap(timesOf);
  const sum = ({ pid, ticks }) =>
    all.filter(({ parent }) => parent === pid).reduce((ticks, child) => ticks + sum(child), ticks);
  return sum(all.find(({ pid }) => pid === process.pid)) / TICKS_A_SECOND;
};

/** One process, or none where it has ended. */
function timesOf(pid) {
  let stat;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return [];
  }
  // The name before it, in parentheses, may have spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((all, field) => all + Number(field), 0);
  return [{ pid: Number(pid), parent: Number(fields[1]), ticks }];
}
