import { Component, type ReactNode } from "react";
import { Missing } from "./missing";

type Props = { children: ReactNode };

/** Keeps the header usable if a page has a defect. */
export class ErrorBoundary extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return <Missing title="This page failed" text="The console could not show this page. Nothing was changed." />;
  }
}
