import { plural } from "../../lib/plural";
import { Icon } from "../../ui/icon";
import type { LocatedProblem } from "./problems";

type Props = { problems: LocatedProblem[]; onSelect: (problem: LocatedProblem) => void };

/** Lists the problems of the declaration. Each one leads to its line. */
export function PlanProblems({ problems, onSelect }: Props) {
  const isBlocked = problems.every((problem) => problem.rule === "blocked");
  const title = isBlocked ? "Rejected or failed changes block the plan" : `${plural(problems.length, "problem")} in the declaration`;
  return (
    <div className="note bad">
      <p>
        <Icon name="warning" /> {title}
      </p>
      <ul className="problems" aria-label="Problems">
        {problems.map((problem, index) => (
          <li key={`${index} ${problem.range.from}`}>
            <button type="button" className="link" onClick={() => onSelect(problem)}>
              Line {problem.range.line}
            </button>{" "}
            {problem.place && <code>{problem.place}</code>} {problem.text}
          </li>
        ))}
      </ul>
    </div>
  );
}
