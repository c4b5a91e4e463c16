import { useState } from "react";
import { publish } from "../../api/services";
import type { JsonObject, Service } from "../../api/types";
import { links } from "../../lib/links";
import { useAction } from "../../lib/use-action";
import { useApi } from "../../session/session";
import { ErrorNote } from "../../ui/error-note";
import { Icon } from "../../ui/icon";
import type { CheckResult } from "./use-dry-run";

/** Publishes exactly the definition of the last check. Without a valid check of the text, the button is disabled. */
export function PublishButton({ check }: { check: CheckResult | null }) {
  const api = useApi();
  const { run, isBusy, error } = useAction();
  const [published, setPublished] = useState<Service | null>(null);
  const send = async (definition: JsonObject) => {
    setPublished(null);
    setPublished(await publish(api, definition));
  };
  return (
    <>
      <div className="actions">
        <button type="button" className="primary" disabled={isBusy || !check?.impact} onClick={() => void (check?.impact && run(() => send(check.definition)))}>
          {buttonText(check)}
        </button>
      </div>
      {error && <ErrorNote error={error} />}
      <div role="status">
        {published && (
          <p className="impact good">
            <Icon name="done" /> {published.name} has version {published.schema.version} of its definition.{" "}
            <a href={links.service(published.id)}>Open the service</a>
          </p>
        )}
      </div>
    </>
  );
}

function buttonText(check: CheckResult | null): string {
  const failing = check?.impact?.teams.length ?? 0;
  return failing > 0 ? "Publish anyway" : "Publish";
}
