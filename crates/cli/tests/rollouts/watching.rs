//! `gantry rollout watch` in a terminal, and without one.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use super::rollout::Rollout;
use super::tmux::Tmux;

#[tokio::test]
async fn the_screen_shows_pods_moving_and_the_terminal_is_as_it_was_afterwards() {
    let rollout = Rollout::begin("watch").await;
    let tmux = Tmux::open("watch", 110, 30);
    tmux.type_line("before=$(stty -g)");
    tmux.type_line(&rollout.typed("rollout watch deployment/web --stay; echo code=$?"));
    let first = tmux.wait_for("a pod that starts", |screen| screen.contains("    ◐"));
    for seen in ["deployment/web", "revision 2", "web-1", "web-2", "    ●●●", "at most 4", "q quits"] {
        assert!(first.contains(seen), "{seen} on\n{first}");
    }

    rollout.pod_waits("web-2-1", "ErrImagePull", "no such image").await;
    rollout.warn("web-2-1", "Failed", "Error: ErrImagePull").await;
    let stuck = tmux.wait_for("trouble", |screen| screen.contains("Error: ErrImagePull"));
    assert!(stuck.contains("stuck") && stuck.contains("    ✗") && stuck.contains("no such image"), "{stuck}");

    rollout.finish().await;
    let done = tmux.wait_for("done", |screen| screen.contains("all 3 pods of revision 2 are available"));
    assert!(done.contains("    ●●●") && done.contains("3 of 3 updated"), "{done}");

    tmux.press("q");
    let after = tmux.wait_for("the exit code", |screen| screen.contains("code=0"));
    assert!(after.contains("deployment/web is done: all 3 pods"), "the result is still printed:\n{after}");
    assert!(!after.contains("q quits"), "the screen is closed:\n{after}");
    tmux.type_line("[ \"$before\" = \"$(stty -g)\" ]; echo same=$?");
    tmux.wait_for("the modes of before", |screen| screen.contains("same=0"));
}

#[tokio::test]
async fn the_view_follows_the_size_of_the_terminal_and_ends_on_control_c() {
    let rollout = Rollout::begin("resize").await;
    let tmux = Tmux::open("resize", 110, 30);
    tmux.type_line(&rollout.typed("rollout watch web; echo code=$?"));
    tmux.wait_for("the view", |screen| screen.contains("q quits"));
    tmux.resize(60, 12);
    let small = tmux.wait_for("a smaller view", |screen| {
        screen.lines().next().is_some_and(|title| title.ends_with("moving") && title.chars().count() == 60)
    });
    assert!(small.lines().count() <= 12, "{small}");
    assert!(small.lines().last().is_some_and(|last| last.starts_with("q quits")), "{small}");
    tmux.press("C-c");
    tmux.wait_for("the exit code", |screen| screen.contains("code=3"));
}

#[tokio::test]
async fn colours_are_left_out_on_request() {
    let rollout = Rollout::begin("colours").await;
    let tmux = Tmux::open("colours", 110, 30);
    tmux.type_line(&rollout.typed("rollout watch web"));
    tmux.wait_for("the view", |screen| screen.contains("q quits"));
    let coloured = tmux.coloured();
    assert!(coloured.contains("\u{1b}[33m") && coloured.contains("\u{1b}[32m"), "{coloured:?}");
    tmux.press("q");
    tmux.wait_for("the prompt", |screen| !screen.contains("q quits"));
    tmux.type_line(&format!("NO_COLOR=1 {}", rollout.typed("rollout watch web")));
    tmux.wait_for("the view", |screen| screen.contains("q quits"));
    let plain = tmux.coloured();
    assert!(!plain.contains("\u{1b}["), "{plain:?}");
}

#[tokio::test]
async fn without_a_terminal_every_change_is_a_line_and_done_is_the_end() {
    let rollout = Rollout::begin("lines").await;
    let mut command = rollout.command(&["rollout", "watch", "deployment/web"]);
    let mut watch = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    assert!(first.ends_with("deployment/web is moving: 1 of 3 pods updated, 3 available, 3 old remaining; 1 pod: starting, no errors reported"), "{first}");
    rollout.warn("web-2-1", "BackOff", "a bit late").await;
    let event = lines.next().unwrap();
    assert!(event.ends_with("Warning BackOff pod/web-2-1: a bit late"), "{event}");
    rollout.finish().await;
    let last = lines.last().unwrap();
    assert!(last.ends_with("deployment/web is done: all 3 pods of revision 2 are available"), "{last}");
    assert_eq!(watch.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn the_screen_closes_by_itself_when_the_rollout_stays_stuck_and_leaves_the_report() {
    let rollout = Rollout::begin("watch-stuck").await;
    let tmux = Tmux::open("watch-stuck", 110, 40);
    tmux.type_line(&rollout.typed("rollout watch deployment/web --stuck-for=1s; echo code=$?"));
    tmux.wait_for("the view", |screen| screen.contains("q quits"));
    rollout.pod_waits("web-2-1", "ErrImagePull", "no such image").await;
    let after = tmux.wait_for("the exit code", |screen| screen.contains("code=4"));
    for text in ["deployment/web is stuck: 1 pod: image nginx:2 cannot be pulled", "Suggested actions"] {
        assert!(after.contains(text), "{text} on\n{after}");
    }
    assert!(!after.contains("q quits"), "the screen is closed:\n{after}");
}

#[tokio::test]
async fn lines_end_when_the_rollout_stays_stuck_or_the_time_is_up() {
    let rollout = Rollout::begin("lines-stuck").await;
    let timeout = rollout.gantry(&["rollout", "watch", "web", "--timeout=1s"]);
    assert_eq!(timeout.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&timeout.stderr), "note: still moving after 1s (--timeout)\n");
    rollout.pod_waits("web-2-1", "ErrImagePull", "no such image").await;
    let stuck = rollout.gantry(&["rollout", "watch", "web", "--stuck-for=1s"]);
    assert_eq!(stuck.status.code(), Some(4));
    let stays = rollout.gantry(&["rollout", "watch", "web", "--stuck-for=0", "--stay", "--timeout=2s"]);
    assert_eq!(stays.status.code(), Some(4), "it ended at the timeout");
}
