import { useEffect, useState } from "react";

const MILLISECONDS = 150;

/** Returns a value after it stayed the same for a moment, so that a dragged slider sends few requests. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), MILLISECONDS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
