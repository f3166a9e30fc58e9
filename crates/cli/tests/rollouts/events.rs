//! `gantry events`, compared with kubectl.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use super::rollout::Rollout;

#[tokio::test]
async fn events_are_listed_as_kubectl_lists_them() {
    let rollout = Rollout::begin("events").await;
    rollout.as_kubectl(&["events"]).is_nothing("No events found in default namespace.\n");
    rollout.as_kubectl(&["events", "-A"]).is_nothing("No events found.\n");
    rollout.warn("web-2-1", "Failed", "Error: ErrImagePull").await;
    rollout.notes("web-1-1", "Pulled", "pulled\nin two lines\n").await;
    let listed = rollout.as_kubectl(&["events"]);
    listed.is("LAST SEEN   TYPE      REASON   OBJECT        MESSAGE\n\
         <unknown>   Warning   Failed   Pod/web-2-1   Error: ErrImagePull\n\
         <unknown>   Normal    Pulled   Pod/web-1-1   pulled\n\
         in two lines\n");
    let same: [&[&str]; 7] = [
        &["events", "-A"],
        &["events", "--no-headers"],
        &["events", "--types=warning"],
        &["events", "--types=Normal,Warning"],
        &["events", "-o", "yaml"],
        &["events", "-o", "jsonpath={.kind} {.items[*].reason}"],
        &["events", "-n", "nowhere"],
    ];
    for arguments in same {
        assert_eq!(rollout.as_kubectl(arguments).code, Some(0), "{arguments:?}");
    }
    assert_eq!(rollout.as_kubectl(&["events", "--types=Warning"]).out.lines().count(), 2);
    for mistake in [["events", "--types=Bad"], ["events", "--for=web"], ["events", "--for=fruit/apple"]] {
        assert_eq!(rollout.as_kubectl(&mistake).code, Some(1), "{mistake:?}");
    }
}

#[tokio::test]
async fn events_about_one_object_are_found_by_its_type_and_name() {
    let rollout = Rollout::begin("events-for").await;
    rollout.warn("web-2-1", "Failed", "Error: ErrImagePull").await;
    rollout.notes("web-1-1", "Pulled", "pulled").await;
    for name in ["pod/web-2-1", "po/web-2-1", "Pod/web-2-1"] {
        let about = rollout.as_kubectl(&["events", "--for", name, "--no-headers"]);
        about.is("<unknown>   Warning   Failed   Pod/web-2-1   Error: ErrImagePull\n");
    }
    rollout
        .as_kubectl(&["events", "--for=deploy/web-2-1"])
        .is_nothing("No events found in default namespace.\n");
    let named = rollout.gantry(&["events", "--for=pod/web-2-1", "-o", "name"]);
    assert!(String::from_utf8(named.stdout).unwrap().starts_with("event/e-"));
}

#[tokio::test]
async fn events_are_reported_as_they_happen() {
    let rollout = Rollout::begin("events-watch").await;
    rollout.warn("web-2-1", "Failed", "before").await;
    let mut command = rollout.command(&["events", "--watch", "--types=Warning"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "LAST SEEN   TYPE      REASON   OBJECT        MESSAGE");
    assert_eq!(lines.next().unwrap(), "<unknown>   Warning   Failed   Pod/web-2-1   before");
    rollout.notes("web-1-1", "Pulled", "not of this type").await;
    rollout.warn("web-1-1", "Unhealthy", "after").await;
    assert_eq!(lines.next().unwrap(), "<unknown>   Warning   Unhealthy   Pod/web-1-1   after");
    child.kill().unwrap();
    child.wait().unwrap();
}
