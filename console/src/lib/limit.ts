/** Runs `work` for each item, at most `width` at a time. An error in `work` would end the other runs, so `work` must not throw. */
export async function runLimited<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>) {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}
