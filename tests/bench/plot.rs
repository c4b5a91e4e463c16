//! Line charts with logarithmic axes, as SVG. The white background keeps them readable on any page.

use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
/// Edges of the plot area, in SVG units.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 490.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 340.0;
const COLOURS: [&str; 5] = ["#0b62a4", "#c8501e", "#2e7d32", "#6a3d9a", "#555555"];

pub struct Chart<'a> {
    /// Text above the chart.
    pub title: &'a str,
    /// Label of the horizontal axis: the quantity and its unit.
    pub across: &'a str,
    /// Label of the vertical axis: the quantity and its unit.
    pub up: &'a str,
    /// Name and points of each line. All numbers must be positive.
    pub lines: Vec<(&'a str, Vec<(f64, f64)>)>,
}

/// A logarithmic axis between two powers of ten, with the exponents `least` and `most`.
struct Axis {
    least: f64,
    most: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min).log10().floor();
        let most = values.fold(0.0, f64::max).log10().ceil().max(least + 1.0);
        Self { least, most, from, to }
    }

    fn coordinate(&self, value: f64) -> f64 {
        self.from + (value.log10() - self.least) / (self.most - self.least) * (self.to - self.from)
    }

    /// Returns the powers of ten on the axis.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        (self.least as i32..=self.most as i32).map(|power| 10_f64.powi(power))
    }
}

impl Chart<'_> {
    pub fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|(_, points)| points);
        let across = Axis::over(points().map(|point| point.0), LEFT, RIGHT);
        let up = Axis::over(points().map(|point| point.1), BOTTOM, TOP);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
        );
        let centre = f64::midpoint(LEFT, RIGHT);
        let title = format!("<tspan font-size=\"14\">{}</tspan>", self.title);
        text(&mut svg, centre, TOP - 16.0, "middle", &title);
        text(&mut svg, centre, BOTTOM + 40.0, "middle", self.across);
        let middle = f64::midpoint(TOP, BOTTOM);
        write!(svg, "<g transform=\"rotate(-90 16 {middle})\">").unwrap();
        text(&mut svg, 16.0, middle, "middle", self.up);
        svg.push_str("</g>\n");
        grid(&mut svg, &across, &up);
        for (number, (name, points)) in self.lines.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            let coordinates = points.iter().map(|(x, y)| (across.coordinate(*x), up.coordinate(*y)));
            line(&mut svg, colour, &coordinates.collect::<Vec<_>>());
            let y = TOP + 10.0 + 20.0 * number as f64;
            line(&mut svg, colour, &[(RIGHT + 14.0, y - 4.0), (RIGHT + 34.0, y - 4.0)]);
            text(&mut svg, RIGHT + 42.0, y, "start", name);
        }
        svg.push_str("</svg>\n");
        svg
    }
}

fn grid(svg: &mut String, across: &Axis, up: &Axis) {
    for tick in across.ticks() {
        let x = across.coordinate(tick);
        rule(svg, (x, TOP), (x, BOTTOM));
        text(svg, x, BOTTOM + 18.0, "middle", &number(tick));
    }
    for tick in up.ticks() {
        let y = up.coordinate(tick);
        rule(svg, (LEFT, y), (RIGHT, y));
        text(svg, LEFT - 8.0, y + 4.0, "end", &number(tick));
    }
}

/// Formats a number with a comma at each thousand.
fn number(value: f64) -> String {
    let text = format!("{value}");
    if value < 1_000.0 {
        return text;
    }
    let groups: Vec<&[u8]> = text.as_bytes().rchunks(3).rev().collect();
    groups.iter().map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(",")
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>").unwrap();
}

fn rule(svg: &mut String, from: (f64, f64), to: (f64, f64)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#ccc\"/>")
        .unwrap();
}

fn line(svg: &mut String, colour: &str, points: &[(f64, f64)]) {
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let path = path.join(" ");
    writeln!(svg, "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>")
        .unwrap();
    for (x, y) in points {
        writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>").unwrap();
    }
}
