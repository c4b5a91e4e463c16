import { useCallback, useState } from "react";

/** Holds the ids of the selected changes. */
export function useSelection() {
  const [ids, setIds] = useState<ReadonlySet<number>>(new Set());
  const toggle = useCallback((id: number) => {
    setIds((current) => {
      const next = new Set(current);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  const replace = useCallback((next: readonly number[]) => setIds(new Set(next)), []);
  const add = useCallback((more: readonly number[]) => setIds((current) => new Set([...current, ...more])), []);
  const remove = useCallback((some: readonly number[]) => {
    setIds((current) => new Set([...current].filter((id) => !some.includes(id))));
  }, []);
  return { ids, toggle, replace, add, remove };
}
