/** Converts a time of the API to the value of a field for local date and time. */
export function toLocalInput(time: string | null): string {
  if (time === null) return "";
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Converts the value of such a field to a time of the API. An empty field gives null. */
export function fromLocalInput(value: string): string | null {
  return value === "" ? null : new Date(value).toISOString();
}
