//! One figure that is measured, and the table of all of them.

/// A measured figure with its goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What is measured.
    pub what: String,
    /// What it should be; empty where nothing is asked for.
    pub goal: String,
    /// What it is.
    pub measured: String,
    /// Whether it is what it should be, where something is asked for.
    pub passes: Option<bool>,
}

impl Figure {
    /// A figure that nothing is asked of.
    pub fn told(what: &str, measured: impl Into<String>) -> Self {
        Self { what: what.to_owned(), goal: String::new(), measured: measured.into(), passes: None }
    }

    /// A figure that should be at least so much.
    pub fn at_least(what: &str, goal: f64, measured: f64) -> Self {
        let (what, goal_text) = (what.to_owned(), format!("≥ {goal:.2}"));
        Self { what, goal: goal_text, measured: format!("{measured:.2}"), passes: Some(measured >= goal) }
    }

    /// A figure that should be at most so much.
    pub fn at_most(what: &str, goal: f64, measured: f64) -> Self {
        let (what, goal_text) = (what.to_owned(), format!("≤ {goal:.2}"));
        Self { what, goal: goal_text, measured: format!("{measured:.2}"), passes: Some(measured <= goal) }
    }

    /// A duration that should be shorter than so many seconds.
    pub fn shorter(what: &str, goal: f64, measured: f64) -> Self {
        let (what, goal_text) = (what.to_owned(), format!("< {}", time(goal)));
        Self { what, goal: goal_text, measured: time(measured), passes: Some(measured < goal) }
    }
}

/// A time in seconds, as one reads it.
pub fn time(seconds: f64) -> String {
    if seconds < 0.01 {
        format!("{:.1} ms", seconds * 1e3)
    } else if seconds < 1.0 {
        format!("{:.0} ms", seconds * 1e3)
    } else {
        format!("{seconds:.1} s")
    }
}

/// The value below which such a share of the values lies.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (share * (sorted.len() - 1) as f64).round() as usize;
    sorted[place]
}

/// The figures as a table in Markdown, those with a goal first.
pub fn table(figures: &[Figure]) -> String {
    let row = |figure: &Figure| {
        let passes = figure.passes.map_or("", |passes| if passes { "pass" } else { "fail" });
        format!("| {} | {} | {} | {passes} |\n", figure.what, figure.goal, figure.measured)
    };
    let (asked, told): (Vec<_>, Vec<_>) = figures.iter().partition(|figure| figure.passes.is_some());
    let rows: String = asked.into_iter().chain(told).map(row).collect();
    format!("| figure | goal | measured | result |\n|---|---|---|---|\n{rows}")
}
