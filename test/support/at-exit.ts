/** Work at the end of the process, by one listener: Node warns of more than ten. */
const works = new Set<() => void>();

process.once('exit', () => {
  for (const work of works) work();
});

/** Does something when the process ends. @returns what takes it back */
export function atExit(work: () => void): () => void {
  works.add(work);
  return () => void works.delete(work);
}
