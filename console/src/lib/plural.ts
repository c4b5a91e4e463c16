/** Returns a count with its noun, for example `1 change` or `3 changes`. */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`;
}
