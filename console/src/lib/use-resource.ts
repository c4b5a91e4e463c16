import { useCallback, useEffect, useRef, useState } from "react";
import { type ApiError, asApiError } from "../api/errors";
import { usePoll } from "./use-poll";

const NEVER = 24 * 3600;

export type Resource<T> = {
  data: T | null;
  error: ApiError | null;
  isLoading: boolean;
  refresh: () => Promise<void>;
};

/**
 * Loads data for a page, again whenever `load` changes, and every `seconds` if given. Callers pass `load` through
 * `useCallback`, so that it does not change with each render. Polling ends with data for which `isFinal` holds.
 * The data of an earlier `load` disappears at once; a failed poll keeps the data and shows the error.
 */
export function useResource<T>(load: () => Promise<T>, seconds?: number, isFinal?: (data: T) => boolean): Resource<T> {
  const [state, setState] = useState<Omit<Resource<T>, "refresh">>({ data: null, error: null, isLoading: true });
  const generation = useRef(0);
  const refresh = useCallback(async () => {
    const mine = ++generation.current;
    try {
      const data = await load();
      if (mine === generation.current) setState({ data, error: null, isLoading: false });
    } catch (failure) {
      const error = asApiError(failure);
      if (mine === generation.current) setState((current) => ({ ...current, error, isLoading: false }));
    }
  }, [load]);
  useEffect(() => {
    setState({ data: null, error: null, isLoading: true });
    void refresh();
    return () => void generation.current++;
  }, [refresh]);
  const hasEnded = seconds === undefined || (state.data !== null && isFinal?.(state.data));
  usePoll(() => void (!hasEnded && refresh()), seconds ?? NEVER);
  return { ...state, refresh };
}
