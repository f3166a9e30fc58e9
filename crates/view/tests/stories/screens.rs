//! Screens of the live view.

use gantry_json::json;

use super::world::{World, new_pod, noon_plus, pod, rolling, serving};

fn halfway() -> World {
    let mut leaving = serving(pod("web-1", "web-1-9", -600), -590);
    leaving["metadata"]["deletionTimestamp"] = json!(super::world::at(80));
    rolling(new_pod(&json!({"waiting": {"reason": "ContainerCreating"}})))
        .warning("web-2-a", "BackOff", "a bit\nlate")
        .but(|world| {
            world.now = noon_plus(20);
            world.pods.push(leaving);
        })
}

#[test]
fn a_screen_shows_sets_pods_limits_time_events_and_keys() {
    assert_eq!(
        halfway().screen(100, 16),
        "\
deployment/web  in default  revision 2  RollingUpdate                                         moving
1 of 3 pods updated, 3 available, 3 old remaining; 1 pod: starting, no errors reported
updated   ███████████░░░░░░░░░░░░░░░░░░░░░░  1 of 3 updated, 3 available, 3 old remaining
budget    4 of at most 4 pods, 3 available of at least 3; at surge limit and availability floor
time      deadline fires in 9m40s, at 2026-01-01T12:10:00Z

new web-2  revision 2  nginx:2  1 pod of 1 wanted, 0 available
    ◐

old web-1  revision 1  nginx:1  3 pods of 3 wanted, 3 available
    ●●●◌

events
    0s  BackOff  pod/web-2-a  a bit late (x3)

q quits  ● available  ◕ ready  ◐ starting  ○ pending  ✗ failing  ◌ terminating
"
    );
}

#[test]
fn problems_are_shown_on_the_screen() {
    let world = rolling(new_pod(&json!({"waiting": {"reason": "ErrImagePull", "message": "no such image"}})));
    let screen = world.screen(100, 20);
    for text in ["stuck", "✗", "image nginx:2 cannot be pulled", "    web-2-a", "no such image"] {
        assert!(screen.contains(text), "{text} in\n{screen}");
    }
}

#[test]
fn any_size_of_screen_is_rendered() {
    for (columns, rows) in [(0, 0), (1, 1), (10, 3), (20, 2), (200, 4)] {
        let screen = halfway().screen(columns, rows);
        assert_eq!(screen.lines().count(), rows, "{columns}x{rows}");
        assert!(screen.lines().all(|line| line.chars().count() <= columns), "{columns}x{rows}\n{screen}");
    }
}

#[test]
fn a_list_of_a_thousand_pods_is_truncated_and_counted() {
    let world = halfway().but(|world| {
        let many = (0..1000).map(|n| serving(pod("web-1", &format!("web-1-x{n}"), -600), -590));
        world.pods.extend(many);
    });
    let screen = world.screen(100, 30);
    assert!(screen.contains(" +668"), "{screen}");
}
