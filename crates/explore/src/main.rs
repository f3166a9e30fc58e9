//! try out
use std::sync::atomic::{AtomicUsize, Ordering};
fn main() {
    use UserAction::*;
    use gantry_explore::*;
    let z = Budget::default();
    let budgets = [
        z,
        Budget { crashes: 1, ..z },
        Budget { delays: 1, ..z },
        Budget { refusals: 1, ..z },
        Budget { lost_responses: 1, ..z },
        Budget { failures: 1, ..z },
        Budget { unready: 1, ..z },
    ];
    let strategies = |n: u16| {
        let mut v = vec![rolling(1, 0), rolling(0, 1), rolling(1, 1), gantry_model::Strategy::Recreate];
        if n > 1 {
            v.push(rolling(2, 1));
            v.push(rolling_percent(50, 50));
        }
        v
    };
    let mut list = Vec::new();
    let n_max: u16 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(2);
    let cap: usize = std::env::args().nth(2).and_then(|a| a.parse().ok()).unwrap_or(30000);
    for n in 1..=n_max {
        for s in strategies(n) {
            for acts in [
                vec![SetTemplate(1)],
                vec![Scale(n + 1)],
                vec![SetTemplate(1), Undo],
                vec![SetTemplate(1), RequestRollback(0)],
                vec![SetTemplate(1), Scale(n + 1)],
                vec![SetTemplate(1), Scale(n - 1)],
                vec![SetTemplate(1), Pause, Resume],
                vec![SetTemplate(1), SetTemplate(2)],
                vec![SetTemplate(1), SetMinReady(0), Pause, Scale(n + 1)],
                vec![SetTemplate(1), SetStrategy(gantry_model::Strategy::Recreate)],
                vec![SetTemplate(1), SetStrategy(gantry_model::Strategy::Recreate), Scale(n + 1)],
                vec![SetTemplate(1), SetStrategy(rolling(2, 0)), Scale(n + 1)],
            ] {
                for b in budgets {
                    let mut sc = Scenario::new(n, s.clone()).with(&acts).budget(b);
                    sc.repairs = gantry_decide::deployment::Repairs::ALL;
                    list.push(sc);
                }
            }
        }
    }
    let next = AtomicUsize::new(0);
    let total = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(s) = list.get(i) else { break };
                    let t = std::time::Instant::now();
                    let e = explore(&s, cap);
                    total.fetch_add(e.states, Ordering::Relaxed);
                    let v = e.violation.as_ref().map(|v| format!("\n{v}")).unwrap_or_default();
                    println!("{s}: {e}, {:.1}s{v}", t.elapsed().as_secs_f64());
                }
            });
        }
    });
    println!("{} scenarios {} states", list.len(), total.into_inner());
}
