import { type ReactNode, useEffect, useRef } from "react";

type Props = {
  title: string;
  /** The heading if it shows more than the title. */
  heading?: ReactNode;
  children: ReactNode;
};

/** Frames a page: it sets the document's title, and moves the focus to the heading for screen readers. */
export function Page({ title, heading: content = title, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – Dovetail`;
    // Arrow keys switch the role: the focus must stay on its radio buttons.
    if (!(document.activeElement instanceof HTMLInputElement)) heading.current?.focus();
  }, [title]);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {content}
      </h1>
      {children}
    </>
  );
}
