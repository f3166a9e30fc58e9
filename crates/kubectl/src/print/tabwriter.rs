//! Elastic tab stops as in Go's text/tabwriter (K3, layout engine).

/// Aligns a text whose cells end in tabs; a column is as wide as the widest cell of consecutive lines that have it.
pub(crate) fn align_columns(text: &str, padding: usize) -> String {
    let text = text.strip_suffix('\n').unwrap_or(text);
    // A form feed ends a line and a vertical tab a cell, as in Go.
    let lines: Vec<Vec<&str>> =
        text.split(['\n', '\x0c']).map(|line| line.split(['\t', '\x0b']).collect()).collect();
    let mut widths: Vec<Vec<usize>> = lines.iter().map(|cells| vec![0; cells.len()]).collect();
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    for column in 0..columns {
        let mut block = Vec::new();
        for line in 0..=lines.len() {
            // The last cell of a line ends in no tab, so it belongs to no column.
            if lines.get(line).is_some_and(|cells| cells.len() > column + 1) {
                block.push(line);
                continue;
            }
            let widest =
                block.iter().map(|&line| lines[line][column].chars().count()).max().unwrap_or_default();
            for line in block.drain(..) {
                widths[line][column] = widest + padding;
            }
        }
    }
    let mut out = String::with_capacity(text.len() * 2);
    for (cells, widths) in lines.iter().zip(&widths) {
        for (nth, (cell, width)) in cells.iter().zip(widths).enumerate() {
            out.push_str(cell);
            if nth + 1 < cells.len() {
                out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count())));
            }
        }
        out.push('\n');
    }
    out
}

/// Escapes control characters that a terminal would interpret.
pub(crate) fn escape_control_characters(text: &str) -> String {
    text.replace('\x1b', "^[").replace('\r', "\\r")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K3: a line without a tab ends the block.
    #[test]
    fn a_line_without_a_tab_ends_the_block() {
        let text =
            "Name:\tweb\nNamespace:\tdefault\nPod Template:\n  Labels:\tapp=web\n\tb=c\nEvents:\t<none>\n";
        assert_eq!(
            align_columns(text, 2),
            "Name:       web\nNamespace:  default\nPod Template:\n  Labels:  app=web\n           b=c\nEvents:    <none>\n"
        );
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            align_columns(&escape_control_characters("a\x1b[1m\tb\r\x0cc\x0bd\n"), 2),
            "a^[[1m  b\\r\nc       d\n"
        );
    }
}
