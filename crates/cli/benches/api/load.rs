//! Requests at the highest rate.

use std::time::{Duration, Instant};

use crate::client::{Client, Connection, Sender};

/// The namespaces of the load, of the objects that are listed, and of those that fill the store.
pub(crate) const LOAD: &str = "load";
pub(crate) const LISTED: &str = "listed";
pub(crate) const MANY: &str = "many";
/// The path of the watched object.
pub(crate) const WATCHED: &str = "watched";

/// Creates the namespaces of the load.
pub(crate) async fn namespaces(client: &Client) {
    let mut sender = client.sender(Sender::One).await;
    for name in [LOAD, LISTED, MANY, WATCHED] {
        let body = format!(r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{name}"}}}}"#);
        assert_eq!(sender.send("POST", "/api/v1/namespaces", body).await.0, 201);
    }
}

/// Creates objects for a while; returns the number per second.
pub(crate) async fn creates(senders: Vec<Connection>, time: Duration) -> (f64, Vec<Connection>) {
    let request =
        |connection, number| ("POST", path(LOAD), object(&format!("o-{connection}-{number}"), number));
    run(senders, Until::Time(time), request, 201).await
}

/// Updates one object per connection for a while; returns the number per second.
pub(crate) async fn updates(senders: Vec<Connection>, time: Duration) -> (f64, Vec<Connection>) {
    let request = |connection, number| {
        let name = format!("o-{connection}-0");
        ("PUT", format!("{}/{name}", path(LOAD)), object(&name, number + 1))
    };
    run(senders, Until::Time(time), request, 200).await
}

/// Reads objects for a while; returns the number per second.
pub(crate) async fn gets(senders: Vec<Connection>, time: Duration) -> (f64, Vec<Connection>) {
    let request =
        |connection, number| ("GET", format!("{}/o-{connection}-{}", path(LOAD), number % 10), String::new());
    run(senders, Until::Time(time), request, 200).await
}

/// Creates so many objects in a namespace; returns the size of each as JSON, in bytes.
pub(crate) async fn fill(
    senders: Vec<Connection>,
    namespace: &str,
    count: usize,
) -> (usize, Vec<Connection>) {
    let namespace = namespace.to_owned();
    let each = count.div_ceil(senders.len());
    let place = path(&namespace);
    let request = move |connection, number| {
        ("POST", place.clone(), object(&format!("o-{connection}-{number}"), number))
    };
    let (_, mut senders) = run(senders, Until::Count(each), request, 201).await;
    let size = senders[0].send("GET", &format!("{}/o-0-0", path(&namespace)), "").await.1;
    (size, senders)
}

/// Lists repeatedly; returns the median in milliseconds.
pub(crate) async fn lists(client: &Client, count: usize, times: usize) -> f64 {
    let mut sender = client.sender(Sender::One).await;
    let mut taken = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        let (status, bytes) = sender.send("GET", &path(LISTED), "").await;
        assert!(status == 200 && bytes > count * 500, "{status}, {bytes} bytes");
        taken.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    taken.sort_by(f64::total_cmp);
    taken[times / 2]
}

/// The path of the objects of a namespace.
pub(crate) fn path(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}

/// An object of about 1 KB as JSON, including the fields that the server adds.
pub(crate) fn object(name: &str, number: usize) -> String {
    let padding = "abcdefghijklmnop".repeat(40);
    format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}"}},"data":{{"number":"{number}","padding":"{padding}"}}}}"#
    )
}

#[derive(Clone, Copy)]
enum Until {
    Time(Duration),
    Count(usize),
}

async fn run(
    senders: Vec<Connection>,
    until: Until,
    request: impl Fn(usize, usize) -> (&'static str, String, String) + Clone + Send + Sync + 'static,
    expected: u16,
) -> (f64, Vec<Connection>) {
    let began = Instant::now();
    let tasks: Vec<_> = senders
        .into_iter()
        .enumerate()
        .map(|(connection, mut sender)| {
            let request = request.clone();
            tokio::spawn(async move {
                let mut number = 0;
                while match until {
                    Until::Time(time) => began.elapsed() < time,
                    Until::Count(count) => number < count,
                } {
                    let (method, path, body) = request(connection, number);
                    let (status, _) = sender.send(method, &path, body).await;
                    assert_eq!(status, expected, "{method} {path}");
                    number += 1;
                }
                (number, sender)
            })
        })
        .collect();
    let (mut all, mut senders) = (0, Vec::new());
    for task in tasks {
        let (number, sender) = task.await.unwrap();
        all += number;
        senders.push(sender);
    }
    (all as f64 / began.elapsed().as_secs_f64(), senders)
}
