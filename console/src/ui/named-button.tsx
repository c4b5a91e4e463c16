type Props = { name: string; onClick: () => void; isDisabled?: boolean; children: string };

/** Shows an action of a row or a card. Its full name distinguishes it from the same action of the others. */
export function NamedButton({ name, onClick, isDisabled, children }: Props) {
  return (
    <button type="button" aria-label={`${children}: ${name}`} disabled={isDisabled} onClick={onClick}>
      {children}
    </button>
  );
}
