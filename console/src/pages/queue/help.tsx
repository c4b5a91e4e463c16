import { Dialog } from "../../ui/dialog";
import { DECISIONS } from "./decisions";

type Props = { isEnabled: boolean; onEnable: (isEnabled: boolean) => void; onClose: () => void };

const KEYS = [
  ["j", "Next change"],
  ["k", "Previous change"],
  ["x", "Select or deselect the change"],
  ...DECISIONS.map(({ key, verb }) => [key, `${verb}: the selected changes, or the current one`]),
  ["?", "Show these keys"],
];

/** Explains the keys of the queue. A user of speech input can switch them off. */
export function Help({ isEnabled, onEnable, onClose }: Props) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input type="checkbox" checked={isEnabled} onChange={(event) => onEnable(event.target.checked)} />
        Use these keys
      </label>
      <div className="actions">
        <button type="button" className="primary" data-initial-focus onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
