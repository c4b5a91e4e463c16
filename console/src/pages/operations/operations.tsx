import { Page } from "../../ui/page";
import { Queues } from "./queues";
import { Status } from "./status";
import { Teams } from "./teams";

/** Shows an operator the work of the whole system, and its teams. */
export function Operations() {
  return (
    <Page title="Operations">
      <Status />
      <Queues />
      <Teams />
    </Page>
  );
}
