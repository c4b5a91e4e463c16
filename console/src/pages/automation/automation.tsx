import { useRights } from "../../session/access";
import { useSession } from "../../session/session";
import { Page } from "../../ui/page";
import { Tabs } from "../../ui/tabs";
import { Healthchecks } from "./healthchecks";
import { Messages } from "./messages";
import { Webhooks } from "./webhooks";

/** Shows what Dovetail sends for the team in its role: webhooks, healthchecks and messages. */
export function Automation() {
  const { role } = useSession();
  const access = useRights();
  const webhooks = { id: "webhooks", text: "Webhooks", content: () => <Webhooks role={role} access={access} /> };
  const healthchecks = { id: "healthchecks", text: "Healthchecks", content: () => <Healthchecks access={access} /> };
  const messages = { id: "messages", text: "Messages", content: () => <Messages role={role} access={access} /> };
  const tabs = role === "serviceowner" ? [webhooks, healthchecks, messages] : [webhooks, messages];
  return (
    <Page title="Automation">
      <Tabs label="Kinds of automation" tabs={tabs} />
    </Page>
  );
}
