import { useCallback, useEffect, useMemo, useState } from "react";
import type { Api } from "../../api/client";
import { type ApiError, asApiError } from "../../api/errors";
import { cursorOf } from "../../api/pages";
import { dryRun, type DryRunPage } from "../../api/services";
import type { JsonObject } from "../../api/types";
import { useApi } from "../../session/session";

type Team = NonNullable<DryRunPage["dry_run"]>["teams"][number];
export type Impact = { checked: number; teams: Team[]; deployed: Team["items"]; warnings: string[] };
/** Result of the dry run of one definition: its impact, or the error. */
export type CheckResult = { definition: JsonObject; impact: Impact | null; error: ApiError | null };

const PAUSE_MS = 250;

/** Checks a definition after a pause in typing. A result of an earlier definition stays until the next one arrives. */
export function useDryRun(definition: JsonObject | undefined) {
  const api = useApi();
  const [check, setCheck] = useState<CheckResult | null>(null);
  const [attempt, setAttempt] = useState(0);
  const text = definition && JSON.stringify(definition);
  // Equal definitions keep their identity, so that comments and layout start no check.
  const current = useMemo(() => (text === undefined ? undefined : (JSON.parse(text) as JsonObject)), [text]);
  useEffect(() => {
    if (!current) return;
    let isStopped = false;
    const timer = setTimeout(async () => {
      const result = await checkAll(api, current, () => isStopped);
      if (!isStopped) setCheck(result);
    }, PAUSE_MS);
    return () => {
      isStopped = true;
      clearTimeout(timer);
    };
  }, [api, current, attempt]);
  const checkAgain = useCallback(() => {
    setCheck(null);
    setAttempt((count) => count + 1);
  }, []);
  return { check, isCurrent: check !== null && check.definition === current, checkAgain };
}

/** Reads all pages of a dry run. Each page continues at the cursor of the one before. */
async function checkAll(api: Api, definition: JsonObject, isStopped: () => boolean): Promise<CheckResult> {
  const impact: Impact = { checked: 0, teams: [], deployed: [], warnings: [] };
  try {
    let cursor: string | undefined;
    do {
      const page = await dryRun(api, definition, cursor);
      impact.warnings = page.warnings;
      impact.checked += page.dry_run?.checked ?? 0;
      impact.deployed.push(...(page.dry_run?.deployed_items ?? []));
      for (const team of page.dry_run?.teams ?? []) addTeam(impact.teams, team);
      cursor = cursorOf(page.dry_run?.next);
    } while (cursor !== undefined && !isStopped());
    return { definition, impact, error: null };
  } catch (error) {
    return { definition, impact: null, error: asApiError(error) };
  }
}

/** Adds the items of a page to those of the same team on an earlier page. */
function addTeam(teams: Team[], team: Team): void {
  const known = teams.find(({ id }) => id === team.id);
  if (known) known.items = [...known.items, ...team.items];
  else teams.push(team);
}
