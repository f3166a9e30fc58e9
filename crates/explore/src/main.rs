//! try out
fn main() {
    use gantry_explore::*;
    let b = |c,d,r,l| Budget { crashes: c, delays: d, refusals: r, lost_responses: l, ..Budget::default() };
    let list = vec![
        Scenario::new(1, rolling(1,0)).with(&[UserAction::SetTemplate(1)]),
        Scenario::new(2, rolling(1,0)).with(&[UserAction::SetTemplate(1)]),
        Scenario::new(3, rolling(1,1)).with(&[UserAction::SetTemplate(1)]),
        Scenario::new(2, rolling(1,0)).with(&[UserAction::SetTemplate(1), UserAction::SetTemplate(2)]),
        Scenario::new(2, rolling(1,0)).with(&[UserAction::SetTemplate(1), UserAction::Scale(3)]),
        Scenario::new(2, rolling(0,1)).with(&[UserAction::SetTemplate(1), UserAction::Scale(1)]),
        Scenario::new(2, gantry_model::Strategy::Recreate).with(&[UserAction::SetTemplate(1)]),
        Scenario::new(2, gantry_model::Strategy::Recreate).with(&[UserAction::SetTemplate(1), UserAction::Scale(1)]),
        Scenario::new(2, rolling(1,0)).with(&[UserAction::SetTemplate(1)]).budget(b(1,0,0,0)),
        Scenario::new(2, rolling(1,0)).with(&[UserAction::SetTemplate(1)]).budget(b(0,1,0,0)),
        Scenario::new(2, rolling(1,0)).with(&[UserAction::SetTemplate(1)]).budget(b(0,0,1,0)),
        Scenario::new(2, rolling(1,0)).with(&[UserAction::SetTemplate(1)]).budget(b(0,0,0,1)),
    ];
    for s in list {
        let t = std::time::Instant::now();
        let e = explore(&s, 2_000_000);
        println!("{s}: {e}, {:.1}s", t.elapsed().as_secs_f64());
        if let Some(v) = &e.violation { println!("{v}"); }
    }
}
