import { useEffect, useRef, useState } from "react";
import { type ApiError, asApiError } from "../api/errors";

export type Action = { run: (work: () => Promise<void>) => Promise<void>; isBusy: boolean; error: ApiError | null };

/** Runs one request at a time for a form or a button, and holds its error. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const isRunning = useRef(false);
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => void (isMounted.current = false);
  }, []);
  const run = async (work: () => Promise<void>) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (failure) {
      if (isMounted.current) setError(asApiError(failure));
    } finally {
      isRunning.current = false;
      if (isMounted.current) setBusy(false);
    }
  };
  return { run, isBusy, error };
}
