//! The text above a picture, in as many lines as it needs.

use super::{CEILING, FAINT, FLOOR, INK, LEFT, escape, put};
use crate::phrases;
use crate::plan::{RolloutEnding, RolloutPlan};

/// The number of characters that fit into a line of the title, and into one below it.
const TITLE_MAX: usize = 72;
const DETAIL_MAX: usize = 115;
/// The distance of lines of the title, and of those below it.
const TITLE_LINE: f64 = 24.0;
const DETAIL_LINE: f64 = 20.0;
/// The position of the first line.
const FIRST_LINE: f64 = 30.0;
/// The space below the last line.
const BELOW: f64 = 20.0;

/// Words of a line that have the same colour.
type Run = (&'static str, String);

/// The text above a picture.
pub(super) struct Heading {
    title: Vec<Vec<Run>>,
    details: Vec<Vec<Run>>,
}

impl Heading {
    /// The title of the rollout, how it ends, its changes, and its numbers of pods.
    pub(super) fn of(plan: &RolloutPlan) -> Self {
        let colour = match plan.ending() {
            RolloutEnding::Complete(_) => FLOOR,
            RolloutEnding::Stuck => CEILING,
            RolloutEnding::Paused | RolloutEnding::Unfinished => "#b45309",
        };
        let title = [(INK, phrases::title(plan)), (colour, phrases::ending(plan))];
        let pods =
            format!("available: {} · pods: {}", phrases::fewest_available(plan), phrases::most_pods(plan));
        let mut details = lines(&[(FAINT, phrases::changes(plan))], DETAIL_MAX);
        details.extend(lines(&[(FAINT, pods)], DETAIL_MAX));
        Self { title: lines(&title, TITLE_MAX), details }
    }

    /// The height that it takes.
    pub(super) fn height(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a handful of lines")]
        let (titles, details) = (self.title.len() as f64, self.details.len() as f64);
        FIRST_LINE + TITLE_LINE * (titles - 1.0) + 2.0 + DETAIL_LINE * details + BELOW
    }

    pub(super) fn draw(&self, svg: &mut String) {
        let mut y = FIRST_LINE;
        for line in &self.title {
            draw_line(svg, y, " font-size=\"18\" font-weight=\"600\"", line);
            y += TITLE_LINE;
        }
        y += 2.0 - TITLE_LINE + DETAIL_LINE;
        for line in &self.details {
            draw_line(svg, y, "", line);
            y += DETAIL_LINE;
        }
    }
}

fn draw_line(svg: &mut String, y: f64, font: &str, runs: &[Run]) {
    let spans =
        runs.iter().map(|(colour, text)| format!("<tspan fill=\"{colour}\">{}</tspan>", escape(text)));
    let spans = spans.collect::<Vec<_>>().join(" ");
    put(svg, format_args!("<text x=\"{LEFT}\" y=\"{y}\"{font}>{spans}</text>"));
}

/// The texts, one after the other, in lines of at most this many characters. Words that are longer are divided.
fn lines(texts: &[(&'static str, String)], max: usize) -> Vec<Vec<Run>> {
    let mut lines: Vec<Vec<Run>> = vec![Vec::new()];
    let mut length = 0;
    for (colour, text) in texts {
        for part in text.split_whitespace().flat_map(|word| pieces(word, max)) {
            let added = part.chars().count();
            if length > 0 && length + 1 + added > max {
                lines.push(Vec::new());
                length = 0;
            }
            length += added + usize::from(length > 0);
            let line = lines.last_mut().expect("there is a first line");
            match line.last_mut() {
                Some((last, run)) if last == colour => {
                    run.push(' ');
                    run.push_str(&part);
                }
                _ => line.push((colour, part)),
            }
        }
    }
    lines
}

/// A word in pieces of at most this many characters.
fn pieces(word: &str, max: usize) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    letters.chunks(max).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(texts: &[(&'static str, &str)], max: usize) -> Vec<String> {
        let texts: Vec<Run> = texts.iter().map(|(colour, text)| (*colour, (*text).to_owned())).collect();
        let run = |(colour, text): &Run| format!("{colour}:{text}");
        lines(&texts, max).iter().map(|line| line.iter().map(run).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn a_short_title_is_one_line() {
        let texts = [("a", "deployment/web"), ("b", "completes after 48s")];
        assert_eq!(shown(&texts, 84), ["a:deployment/web b:completes after 48s"]);
    }

    #[test]
    fn a_long_title_is_wrapped() {
        let texts = [("a", "deployment/web"), ("b", "gets stuck: the image cannot be pulled")];
        assert_eq!(shown(&texts, 26), ["a:deployment/web b:gets stuck:", "b:the image cannot be pulled"]);
    }

    #[test]
    fn a_name_longer_than_a_line_is_split() {
        assert_eq!(
            shown(&[("a", "deployment/a-long-name"), ("b", "ends")], 12),
            ["a:deployment/a", "a:-long-name", "b:ends"]
        );
    }
}
