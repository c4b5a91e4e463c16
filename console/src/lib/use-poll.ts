import { useEffect, useRef } from "react";

/** Calls `poll` every `seconds` while the page is visible, and at once when it becomes visible after a longer pause. */
export function usePoll(poll: () => void, seconds: number): void {
  const latest = useRef(poll);
  latest.current = poll;
  useEffect(() => {
    let last = Date.now();
    const tick = () => {
      // The limit holds for any number of switches between tabs, so a return polls only when the time is over.
      if (document.visibilityState !== "visible" || Date.now() - last < seconds * 1000 - 50) return;
      last = Date.now();
      latest.current();
    };
    const timer = setInterval(tick, seconds * 1000);
    document.addEventListener("visibilitychange", tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", tick);
    };
  }, [seconds]);
}
