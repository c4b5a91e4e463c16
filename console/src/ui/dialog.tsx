import { type ReactNode, useLayoutEffect, useRef } from "react";

type Props = { title: string; onClose: () => void; children: ReactNode };

/**
 * Opens a modal dialog. The browser keeps the focus inside and returns it at the end; Escape closes.
 * `data-initial-focus` marks the control that gets the focus.
 */
export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  // A layout effect ends before React removes the element, so that `close` can return the focus.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLElement>("[data-initial-focus]")?.focus();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        // A browser closes the dialog at a second Escape, without a cancellable event.
        if (dialog.current?.open === false) onClose();
      }}
    >
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}
