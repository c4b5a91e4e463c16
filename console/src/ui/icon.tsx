const PATHS = {
  clock: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 4.5V8l2.5 2",
  check: "m3 8.5 3.2 3.2L13 4.8",
  done: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM5 8.2l2.2 2.2L11 6.2",
  reject: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM5.7 5.7l4.6 4.6m0-4.6-4.6 4.6",
  warning: "M8 2 1.5 13.5h13zM8 6.5v3.2m0 1.6v.4",
  closed: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM5 8h6",
  work: "M2.5 5.5h11v8h-11zM6 5.5v-2h4v2M2.5 9h11",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  edit: "m3 13 .7-3L11 2.7 13.3 5 6 12.3z",
  arrow: "M3 8h10M9.5 4.5 13 8l-3.5 3.5",
} as const;

export type IconName = keyof typeof PATHS;

/** Draws a decorative icon. The text next to it carries the meaning. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
