import { useEffect, useState } from "react";

/** Returns the time in milliseconds, renewed once a minute, so that ages grow on an idle page. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 60_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
