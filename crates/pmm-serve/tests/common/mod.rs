//! What the tests share: a server with a real listener, a client that sends whatever it is told, a small model.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pmm::table::{Data, Fit};
use pmm_serve::{Limits, Options, Server};
use serde_json::Value;
use tokio::sync::oneshot;

/// What no test waits for.
pub(crate) const HANGS: Duration = Duration::from_secs(120);
pub(crate) const TOKEN: &str = "token-of-the-tests";

/// A server on a folder of its own.
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    _kept: Option<tempfile::TempDir>,
    pub(crate) address: SocketAddr,
    pub(crate) link: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Place {
    /// With nothing in it.
    pub(crate) fn empty() -> Self {
        Self::with(|_| ())
    }

    /// With a model `pets` and its data.
    pub(crate) fn with_model() -> Self {
        Self::with(|_| ()).and_model()
    }

    pub(crate) fn with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let mut place = Self::at(&path, change);
        place._kept = Some(folder);
        place
    }

    /// On a folder that is there.
    pub(crate) fn at(folder: &Path, change: impl FnOnce(&mut Options)) -> Self {
        let mut options = Options { folder: folder.into(), token: Some(TOKEN.into()), ..Options::default() };
        change(&mut options);
        let (told, hear) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let server = Server::bind(options).await.unwrap();
                told.send((server.address(), server.link())).unwrap();
                let ended = async {
                    let _ = stopped.await;
                };
                server.run(ended).await;
            });
        });
        let (address, link) = hear.recv_timeout(HANGS).unwrap();
        Self { folder: folder.into(), _kept: None, address, link, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn and_model(self) -> Self {
        copy(model(), &self.folder.join("pets.pmm"));
        std::fs::write(self.folder.join("pets.csv"), pets(300)).unwrap();
        self
    }

    /// Ends the server, and waits until it has.
    pub(crate) fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &[("content-type", "application/json")], body.to_string().as_bytes())
    }

    pub(crate) fn put(&self, path: &str, body: &[u8]) -> Reply {
        self.send("PUT", path, &[], body)
    }

    /// With the right token.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let token = format!("Bearer {TOKEN}");
        let mut all = vec![("authorization", token.as_str())];
        all.extend(headers);
        self.raw(method, path, &all, body)
    }

    /// With nothing but what is given, and a host unless one is.
    pub(crate) fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            text += &format!("host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        if !headers.iter().any(|(name, _)| ["content-length", "transfer-encoding"].contains(name)) {
            text += &format!("content-length: {}\r\n", body.len());
        }
        let mut stream = self.connect();
        stream.write_all(format!("{text}\r\n").as_bytes()).unwrap();
        // A server that refuses may not wait for the whole.
        let _ = stream.write_all(body);
        Reply::read(stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(HANGS)).unwrap();
        stream
    }

    /// Waits until a fit is in one of some states.
    pub(crate) fn wait(&self, name: &str, states: &[&str]) -> Value {
        let begun = Instant::now();
        loop {
            let status = self.get(&format!("/v1/fits/{name}")).ok().json();
            if states.contains(&status["state"].as_str().unwrap()) {
                return status;
            }
            assert!(begun.elapsed() < HANGS, "{status}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.end();
    }
}

impl Reply {
    pub(crate) fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let body = bytes.get(end + 4..).unwrap_or_default();
        let body = if head.contains("transfer-encoding: chunked") { unchunked(body) } else { body.to_vec() };
        Self { status, head, body }
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert!((200..300).contains(&self.status), "{} {}", self.head, self.text());
        self
    }

    #[track_caller]
    pub(crate) fn refused(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{} {}", self.head, self.text());
        assert!(self.head.contains("content-type: application/problem+json"), "{}", self.head);
        let problem = self.json();
        assert_eq!(problem["status"], status);
        assert!(!problem["detail"].as_str().unwrap().is_empty());
        problem
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).map(str::to_owned)
    }
}

/// What chunks hold. A part that was cut off is left out.
fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap_or(""), 16).unwrap_or(0);
        let Some(chunk) = bytes.get(end + 2..end + 2 + size).filter(|_| size > 0) else { break };
        whole.extend_from_slice(chunk);
        bytes = bytes.get(end + 4 + size..).unwrap_or_default();
    }
    whole
}

/// A small table: a kind, its legs, a weight with gaps.
pub(crate) fn pets(rows: usize) -> String {
    let mut text = String::from("kind,legs,weight\n");
    for i in 0..rows {
        let (kind, legs, base) = [("dog", 4, 20.0), ("bird", 2, 0.3), ("cat", 4, 4.0)][i * 7 % 3];
        let weight = base * (1.0 + 0.2 * ((i * 13 % 17) as f64 / 17.0));
        let weight = if i % 29 == 5 { String::new() } else { format!("{weight:.2}") };
        text += &format!("{kind},{legs},{weight}\n");
    }
    text
}

/// The folder of a small model of it, fitted once.
pub(crate) fn model() -> &'static Path {
    static MODEL: OnceLock<tempfile::TempDir> = OnceLock::new();
    static FITTED: OnceLock<PathBuf> = OnceLock::new();
    FITTED.get_or_init(|| {
        let folder = MODEL.get_or_init(|| tempfile::tempdir().unwrap()).path().join("pets.pmm");
        let mut settings = pmm::Settings::new();
        settings.set("net.width", 32).unwrap().set("net.blocks", 1).unwrap();
        Fit::new(Data::from_csv(pets(300))).settings(&settings).steps(60).at(&folder).run(&mut ()).unwrap();
        folder
    })
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Limits that tests reach.
pub(crate) fn small(limits: &mut Limits) {
    *limits = Limits { body: 20_000, rows: 5000, patience: 1, ..Limits::default() };
}

/// A fit that takes so many steps.
pub(crate) fn quick(steps: u64) -> Value {
    serde_json::json!({ "data": "pets.csv", "model": "new", "steps": steps,
        "settings": { "net.width": "32", "net.blocks": "1", "train.patience": "100000" } })
}
