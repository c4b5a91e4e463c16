/** Takes the position out of the URL of the next page. Its other parameters repeat the request. */
export function cursorOf(next: string | null): string | undefined {
  return next ? (new URL(next).searchParams.get("cursor") ?? undefined) : undefined;
}
