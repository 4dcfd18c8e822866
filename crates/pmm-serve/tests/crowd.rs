//! Many clients, and slow ones.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use common::{HANGS, Place, TOKEN, small};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// All of a thousand at once are answered, each with its own rows.
#[test]
fn a_thousand_requests_at_once_are_answered() {
    let place = Place::with_model();
    place.post("/v1/models/pets/sample", &json!({})).ok();
    let address = place.address;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let statuses = runtime.block_on(async {
        let asked = (0..1000).map(|seed| async move {
            let body = json!({ "count": 2, "seed": seed }).to_string();
            let head = format!("POST /v1/models/pets/sample HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
            stream.write_all((head + &body).as_bytes()).await.unwrap();
            let mut reply = Vec::new();
            tokio::time::timeout(HANGS, stream.read_to_end(&mut reply)).await.unwrap().unwrap();
            let reply = String::from_utf8_lossy(&reply).into_owned();
            (reply.split(' ').nth(1).unwrap_or("").to_owned(), reply.contains(&format!("\"seed\":{seed},")))
        });
        let tasks: Vec<_> = asked.map(tokio::spawn).collect();
        let mut statuses = Vec::new();
        for task in tasks {
            statuses.push(task.await.unwrap());
        }
        statuses
    });
    let answered = statuses.iter().filter(|(status, own)| status == "200" && *own).count();
    let refused = statuses.iter().filter(|(status, _)| status == "503").count();
    assert_eq!(answered + refused, 1000);
    assert_eq!(refused, 0, "a thousand may wait by default");
    place.get("/healthz").ok();
}

#[test]
fn too_many_are_told_to_come_back() {
    let place = Place::with(|options| {
        options.limits.workers = 1;
        options.limits.waiting = 1;
    })
    .and_model();
    place.post("/v1/models/pets/sample", &json!({})).ok();
    let replies: Vec<(u16, Option<String>)> = std::thread::scope(|scope| {
        let ask = || {
            let reply = place.post("/v1/models/pets/sample", &json!({ "count": 20_000 }));
            (reply.status, reply.header("retry-after"))
        };
        let asked: Vec<_> = (0..12).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(replies.iter().any(|(status, _)| *status == 200));
    let busy: Vec<_> = replies.iter().filter(|(status, _)| *status == 503).collect();
    assert!(!busy.is_empty() && busy.iter().all(|(_, after)| after.is_some()), "{replies:?}");
}

/// Who sends half a request, or takes no answer, does not keep others waiting.
#[test]
fn slow_clients_are_given_up() {
    let place = Place::with(|options| {
        small(&mut options.limits);
        options.limits.rows = 10_000_000;
        options.limits.workers = 1;
    })
    .and_model();
    let mut half = place.connect();
    half.write_all(b"GET /v1/models HTTP/1.1\r\nhos").unwrap();
    let mut body = place.connect();
    write!(body, "PUT /v1/data/x.csv HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: 100\r\n\r\nabc", place.address).unwrap();
    // Takes nothing of very much, and holds the only turn.
    let mut deaf = place.connect();
    let request = json!({ "count": 10_000_000 }).to_string();
    write!(deaf, "POST /v1/models/pets/sample HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: {}\r\n\r\n{request}", place.address, request.len()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    place.post("/v1/models/pets/sample", &json!({ "count": 1 })).ok();
    for mut stream in [half, body] {
        let mut rest = Vec::new();
        // The server hangs up; a client that waits for that in vain is told so by its own patience.
        let ended = stream.read_to_end(&mut rest).map_err(|error| error.kind());
        assert!(!matches!(ended, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut)), "it is still connected");
        assert!(!String::from_utf8_lossy(&rest).starts_with("HTTP/1.1 2"));
    }
    assert!(!place.folder.join("x.csv").exists());
}
