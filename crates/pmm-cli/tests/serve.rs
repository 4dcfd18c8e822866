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
        self.send(method, path, body.as_bytes())
    }

    fn send(&self, method: &str, path: &str, body: &[u8]) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            self.address,
            body.len()
        )
        .unwrap();
        stream.write_all(body).unwrap();
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

/// The most memory that the server has had, in megabytes.
#[cfg(target_os = "linux")]
fn peak(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
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

/// So many lines that are all the same, of 1024 bytes each.
#[cfg(target_os = "linux")]
fn lines<W: Write>(mut out: W, megabytes: usize) -> W {
    let line = format!("{}\n", "a".repeat(1023)).repeat(1024);
    (0..megabytes).for_each(|_| out.write_all(line.as_bytes()).unwrap());
    out
}

/// A zip of one picture that unpacks to so much.
#[cfg(target_os = "linux")]
fn zip_bomb(megabytes: usize) -> Vec<u8> {
    use flate2::{Compression, CrcWriter, write::DeflateEncoder};
    let packed = lines(DeflateEncoder::new(Vec::new(), Compression::best()), megabytes).finish().unwrap();
    let crc = lines(CrcWriter::new(std::io::sink()), megabytes);
    let word = |number: usize| (number as u32).to_le_bytes();
    let name = b"a.png";
    // Deflated, without a date; checksum, sizes, the length of the name.
    let sizes = [crc.crc().sum().to_le_bytes(), word(packed.len()), word(megabytes << 20), word(name.len())];
    let common = [b"\x14\0\0\0\x08\0\0\0\0\0", sizes.as_flattened()].concat();
    let local = [b"PK\x03\x04", &common[..], name, &packed].concat();
    let entry = [b"PK\x01\x02\x14\0", &common[..], &[0; 14], name].concat();
    let end = [word(entry.len()), word(local.len())];
    [&local[..], &entry, b"PK\x05\x06\0\0\0\0\x01\0\x01\0", end.as_flattened(), &[0; 2]].concat()
}

/// A picture that says it is larger than any memory.
#[cfg(target_os = "linux")]
fn vast_picture() -> Vec<u8> {
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        let mut crc = flate2::Crc::new();
        crc.update(&body);
        [&(data.len() as u32).to_be_bytes(), &body[..], &crc.sum().to_be_bytes()].concat()
    };
    let side = 200_000u32.to_be_bytes();
    let header = [&side[..], &side, &[8, 6, 0, 0, 0]].concat();
    let pixels = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    let pixels = lines(pixels, 1).finish().unwrap();
    [b"\x89PNG\r\n\x1a\n", &chunk(b"IHDR", &header)[..], &chunk(b"IDAT", &pixels), &chunk(b"IEND", b"")]
        .concat()
}

/// Files that are made to fill memory are refused in words, at the cost of what is harmless.
#[cfg(target_os = "linux")]
#[test]
fn bombs_are_refused_without_much_memory() {
    use flate2::{Compression, write::GzEncoder};
    let place = tempfile::tempdir().unwrap();
    let server = Server::start(place.path());
    let before = peak(&server);
    let gzip = lines(GzEncoder::new(Vec::new(), Compression::best()), 256).finish().unwrap();
    let files = [
        ("bomb.zip", zip_bomb(256), "over 200 times its size"),
        ("bomb.csv.gz", gzip.clone(), "over 200 times its size"),
        ("bomb.txt.gz", gzip, "over 200 times its size"),
        ("vast.png", vast_picture(), "too large"),
    ];
    for (name, bytes, words) in files {
        assert_eq!(server.send("PUT", &format!("/v1/data/{name}"), &bytes).0, 201, "{name}");
        let (status, problem) = server.ask("POST", &format!("/v1/data/{name}/inspect"), &json!({}));
        assert_eq!(status, 422, "{name}: {problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(words) && detail.contains(name), "{detail}");
        // A fit that is begun all the same fails with the same words.
        let (status, begun) = server.ask("POST", "/v1/fits", &json!({ "data": name, "model": "pets" }));
        assert_eq!(status, 202, "{begun}");
        let ended = server.wait(|status| status["state"] == "failed");
        assert_eq!(ended["problem"]["detail"], detail);
    }
    let used = peak(&server) - before;
    assert!(used < 200, "{used} MB for files that unpack to more");
}
