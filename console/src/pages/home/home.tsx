import { useSession } from "../../session/session";
import { Page } from "../../ui/page";
import { ConsumerHome } from "./consumer-home";
import { OwnerHome } from "./owner-home";

/** Shows the work that waits for the team in its role. */
export function Home() {
  const { role } = useSession();
  return <Page title="Home">{role === "consumer" ? <ConsumerHome /> : <OwnerHome />}</Page>;
}
