import { Component, type ReactNode } from "react";
import { links } from "./links";
import { Page } from "./page";

type Props = { children: ReactNode };

/** Keeps the header usable if a page has a defect. */
export class ErrorBoundary extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <Page title="This page failed">
        <p>The console could not show this page. Nothing was changed.</p>
        <p>
          <a href={links.home()}>Go to the home page</a>
        </p>
      </Page>
    );
  }
}
