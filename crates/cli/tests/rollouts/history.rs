//! `gantry rollout history` on a terminal and in pipes.

use super::rollout::Rollout;
use super::tmux::Tmux;

/// kubectl's table, blank line included.
const TABLE: &str = "deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n2         <none>\n\n";
const CHANGES: &str = "1 -> 2\n  ~ containers[main].image: nginx:1 -> nginx:2\n";

#[tokio::test]
async fn history_is_kubectls_table_in_pipes_unless_changes_are_requested() {
    let rollout = Rollout::begin("history").await;
    let printed = |arguments: &[&str]| String::from_utf8(rollout.gantry(arguments).stdout).unwrap();
    assert_eq!(printed(&["rollout", "history", "deployment/web"]), TABLE);
    assert_eq!(printed(&["rollout", "history", "deployment/web", "--changes"]), format!("{TABLE}{CHANGES}"));
}

#[tokio::test]
async fn history_has_changes_on_a_terminal_unless_disabled() {
    let rollout = Rollout::begin("history-seen").await;
    let tmux = Tmux::open("history-seen", 200, 30);
    tmux.type_line(&rollout.typed("rollout history deployment/web; echo code=$?"));
    let seen = tmux.wait_for("the end", |screen| screen.contains("code=0"));
    assert!(seen.contains(CHANGES), "{seen}");
    tmux.type_line("clear");
    tmux.wait_for("nothing", |screen| !screen.contains("code=0"));
    tmux.type_line(&rollout.typed("rollout history deployment/web --changes=false; echo code=$?"));
    let seen = tmux.wait_for("the end", |screen| screen.contains("code=0"));
    assert!(seen.contains("REVISION") && !seen.contains("1 -> 2"), "{seen}");
}
