import { useCallback, useState } from "react";
import {
  type Healthcheck,
  type HealthcheckBody,
  listHealthchecks,
  putHealthcheck,
  removeHealthcheck,
  runHealthcheck,
} from "../../api/healthchecks";
import { useNow } from "../../lib/use-now";
import { useResource } from "../../lib/use-resource";
import type { Rights } from "../../session/access";
import { useApi } from "../../session/session";
import { AccessNote } from "../../ui/access-note";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { CardList } from "./card-list";
import { HealthcheckCard } from "./healthcheck-card";
import { HealthcheckForm } from "./healthcheck-form";
import { useServiceNames } from "./use-service-names";

const POLL_SECONDS = 15;

type Open = { dialog: "form"; healthcheck: Healthcheck | null } | { dialog: "delete"; healthcheck: Healthcheck };

/** Lists the healthchecks of the team's services, and changes them. */
export function Healthchecks({ access }: { access: Rights }) {
  const api = useApi();
  const list = useResource(useCallback(() => listHealthchecks(api), [api]), POLL_SECONDS);
  const { services, nameOf } = useServiceNames("serviceowner", "OWN");
  const now = useNow();
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const free = services.filter(({ id }) => !list.data?.some((healthcheck) => healthcheck.service === id));
  const save = async (body: HealthcheckBody) => {
    await putHealthcheck(api, body);
    await list.refresh();
  };
  const start = async (service: number) => {
    await runHealthcheck(api, service);
    await list.refresh();
  };
  const remove = async (service: number) => {
    await removeHealthcheck(api, service);
    await list.refresh();
  };
  return (
    <>
      <p className="hint">A healthcheck asks a URL of yours for the health of the items of a service. Consumers see the results.</p>
      <AccessNote access={access} what="Creating and changing healthchecks needs" />
      <CardList
        name="Healthchecks"
        resource={list}
        emptyText="No service of your team has a healthcheck."
        create={{ text: "Create healthcheck", onClick: () => setOpen({ dialog: "form", healthcheck: null }), isAllowed: access.isAdmin }}
      >
        {(list.data ?? []).map((healthcheck) => (
          <HealthcheckCard
            key={healthcheck.id}
            healthcheck={healthcheck}
            service={nameOf(healthcheck.service)}
            access={access}
            now={now}
            onRun={() => start(healthcheck.service)}
            onEdit={() => setOpen({ dialog: "form", healthcheck })}
            onDelete={() => setOpen({ dialog: "delete", healthcheck })}
          />
        ))}
      </CardList>
      {open?.dialog === "form" && (
        <HealthcheckForm healthcheck={open.healthcheck} services={free} onSubmit={save} onClose={close} />
      )}
      {open?.dialog === "delete" && (
        <ConfirmDialog
          title={`Delete the healthcheck of ${nameOf(open.healthcheck.service)}?`}
          verb="Delete"
          onConfirm={() => remove(open.healthcheck.service)}
          onClose={close}
        >
          <p>Consumers no longer see its results. You cannot undo this.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
