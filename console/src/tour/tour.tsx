import { useState } from "react";
import { readPreference, writePreference } from "../lib/preferences";
import { navigate } from "../lib/route";
import { useSession } from "../session/session";
import { type Step, STEPS } from "./steps";
import { TourDialog } from "./tour-dialog";
import { TourNote } from "./tour-note";

const PREFERENCE = "tour";

/** Offers the tour once in a browser, on the home page. A started tour continues on every page. */
export function Tour({ isHome }: { isHome: boolean }) {
  const { access, role, setRole } = useSession();
  const [isOver, setOver] = useState(() => readPreference(PREFERENCE) === "over");
  const [step, setStep] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [hasStarted, setStarted] = useState(false);

  const start = () => {
    setStarted(true);
    setOpen(true);
  };
  const finish = () => {
    writePreference(PREFERENCE, "over");
    setOver(true);
  };
  const visit = ({ role: wanted, link }: Step) => {
    setOpen(false);
    // After the last page, nothing is left to continue.
    if (step === STEPS.length - 1) finish();
    else setStep(step + 1);
    if (wanted !== role) setRole(wanted);
    navigate(link);
  };

  // The tour is about the work of a team, which an operator does not have.
  if (isOver || access === "PLATFORM") return null;
  if (isOpen) return <TourDialog step={step} onStep={setStep} onVisit={visit} onFinish={finish} onClose={() => setOpen(false)} />;
  if (!hasStarted && !isHome) return null;
  return <TourNote step={step} hasStarted={hasStarted} onStart={start} onDismiss={finish} />;
}
