import { links } from "../lib/links";
import { Page } from "../ui/page";

/** Explains why there is no page to show, and leads home. */
export function Missing({ title, text }: { title: string; text: string }) {
  return (
    <Page title={title}>
      <p>{text}</p>
      <p>
        <a href={links.home()}>Go to the home page</a>
      </p>
    </Page>
  );
}
