//! `pmm serve` as a process: started, killed in the middle of a fit, started again; and refused where it cannot start.
#![cfg(feature = "serve")]
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const TOKEN: &str = "token-of-the-tests";
/// What no test waits for.
const HANGS: Duration = Duration::from_secs(120);

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pmm"))
            .args(["serve", "--port", "0", "--no-open", "--token", TOKEN])
            .arg(folder)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let link = line.trim().strip_prefix("page: http://").unwrap_or_else(|| panic!("{line}"));
        Self { child, address: link.split('/').next().unwrap().to_owned() }
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn wait(&self, enough: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let (_, status) = self.ask("GET", "/v1/fits/pets", &Value::Null);
            if enough(&status) {
                return status;
            }
            assert!(begun.elapsed() < HANGS, "{status}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let rows: String =
        (0..300).map(|i| format!("{},{}\n", ["dog", "bird"][i % 2], i % 2 * 10 + i % 7)).collect();
    std::fs::write(folder.path().join("pets.csv"), format!("kind,weight\n{rows}")).unwrap();
    folder
}

fn fit() -> Value {
    json!({ "data": "pets.csv", "steps": 1500,
        "settings": { "net.width": "32", "net.blocks": "1", "train.patience": "100000", "train.checkpoint_seconds": "0.3" } })
}

/// The hash of what a fit leaves.
fn hash(server: &Server) -> Value {
    server.wait(|status| status["state"] == "finished");
    server.ask("GET", "/v1/models/pets", &Value::Null).1["hash"].clone()
}

#[test]
fn a_fit_outlives_its_server() {
    let (disturbed, quiet) = (folder(), folder());
    let mut first = Server::start(disturbed.path());
    assert_eq!(first.ask("POST", "/v1/fits", &fit()).0, 202);
    first.wait(|status| status["step"].as_u64().is_some_and(|step| step > 50));
    // At once, without a farewell.
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let second = Server::start(disturbed.path());
    let status = second.wait(|_| true);
    assert_eq!(status["state"], "stopped", "{status}");
    assert_eq!(second.ask("POST", "/v1/fits/pets/resume", &json!({})).0, 202);
    let other = Server::start(quiet.path());
    assert_eq!(other.ask("POST", "/v1/fits", &fit()).0, 202);
    assert_eq!(hash(&second), hash(&other), "as if it had never been killed");
}

#[test]
fn what_cannot_be_served_is_refused_with_a_hint() {
    let run = |arguments: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_pmm")).arg("serve").args(arguments).output().unwrap();
        assert_eq!(out.status.code(), Some(1));
        String::from_utf8(out.stderr).unwrap()
    };
    let error = run(&["no-such-folder", "--port", "0", "--no-open"]);
    assert!(error.contains("no-such-folder") && error.contains("hint:"), "{error}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let error = run(&["--port", &port, "--no-open"]);
    assert!(error.contains(&port) && error.contains("--port 0"), "{error}");
    assert!(run(&["--port", "0", "--no-open", "--token", "short"]).contains("token"));
}
