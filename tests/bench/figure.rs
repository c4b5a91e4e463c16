//! A measured figure, and the table of figures.

use capacity::text::markdown;

/// A measured figure with its goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Subject of the measurement.
    pub what: String,
    /// Goal, or empty.
    pub goal: String,
    /// Measured value with its unit.
    pub measured: String,
    /// Whether the value reaches the goal, if there is one.
    pub passes: Option<bool>,
}

impl Figure {
    pub fn without_goal(what: &str, measured: impl Into<String>) -> Self {
        Self { what: what.to_owned(), goal: String::new(), measured: measured.into(), passes: None }
    }

    pub fn with_goal(what: impl Into<String>, goal: String, measured: String, passes: bool) -> Self {
        Self { what: what.into(), goal, measured, passes: Some(passes) }
    }

    /// Creates a figure with a lower bound.
    pub fn at_least(what: &str, goal: f64, measured: f64) -> Self {
        Self::with_goal(what, format!("≥ {goal:.2}"), format!("{measured:.2}"), measured >= goal)
    }

    /// Creates a figure with an upper bound.
    pub fn at_most(what: &str, goal: f64, measured: f64) -> Self {
        Self::with_goal(what, format!("≤ {goal:.2}"), format!("{measured:.2}"), measured <= goal)
    }

    /// Creates a duration in seconds with an exclusive upper bound.
    pub fn shorter(what: &str, goal: f64, measured: f64) -> Self {
        Self::with_goal(what, format!("< {}", time(goal)), time(measured), measured < goal)
    }
}

/// Formats a time in seconds with a readable unit.
pub fn time(seconds: f64) -> String {
    if seconds < 0.01 {
        format!("{:.1} ms", seconds * 1e3)
    } else if seconds < 1.0 {
        format!("{:.0} ms", seconds * 1e3)
    } else {
        format!("{seconds:.1} s")
    }
}

/// Returns the quantile of the values at a share between 0 and 1.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let index = (share * (sorted.len() - 1) as f64).round() as usize;
    sorted[index]
}

/// Returns the figures as a Markdown table. Figures with a goal come first.
pub fn table(figures: &[Figure]) -> String {
    let (with_goals, without_goal): (Vec<_>, Vec<_>) =
        figures.iter().partition(|figure| figure.passes.is_some());
    if with_goals.is_empty() {
        let rows = figures.iter().map(|figure| vec![figure.what.clone(), figure.measured.clone()]);
        return markdown("figure | measured", rows);
    }
    let row = |figure: &Figure| {
        let passes = figure.passes.map_or("", |passes| if passes { "pass" } else { "fail" });
        [&figure.what, &figure.goal, &figure.measured, passes].map(str::to_owned).to_vec()
    };
    markdown("figure | goal | measured | result", with_goals.into_iter().chain(without_goal).map(row))
}
