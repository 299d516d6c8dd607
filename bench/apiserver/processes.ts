/** What the kernel counts of processes. */
import { readFileSync } from 'node:fs';

/** Resident memory now, in MiB, of all of them together. */
export function residentMebibytes(pids: readonly number[]): number {
  return sum(pids, (pid) => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
}

/** Processor time used so far, in seconds, all threads of all of them. */
export function cpuSeconds(pids: readonly number[]): number {
  return sum(pids, (pid) => {
    // Fields 14 and 15 (utime, stime), in ticks of 1/100 s; the name in parentheses may hold spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  });
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + of(pid), 0);
}
