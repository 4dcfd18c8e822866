//! The tools for assistants, asked by a client in the same process.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::thread::JoinHandle;

use pmm_serve::Assistant;
use serde_json::{Value, json};

struct Client {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    server: Option<JoinHandle<std::io::Result<()>>>,
    next: u64,
}

impl Client {
    fn new(folder: &std::path::Path, read_only: bool) -> Self {
        let assistant = Assistant::new(folder, read_only).unwrap();
        let ((input, to), (from, output)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        let server = std::thread::spawn(move || assistant.serve(input, output));
        Self { to: Some(to), from: BufReader::new(from), server: Some(server), next: 1 }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        let answer = self.hear();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(id)));
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> (bool, Value) {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        (result["isError"].as_bool().unwrap(), text)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.to.take());
        if let Some(server) = self.server.take() {
            server.join().unwrap().unwrap();
        }
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    common::copy(common::model(), &folder.path().join("pets.pmm"));
    std::fs::write(folder.path().join("pets.csv"), common::pets(300)).unwrap();
    folder
}

#[test]
fn the_protocol_is_spoken() {
    let folder = folder();
    let mut client = Client::new(folder.path(), false);
    for (asked, given) in [("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")] {
        let hello = client.ask("initialize", json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }));
        assert_eq!(hello["result"]["protocolVersion"], given);
        assert_eq!(hello["result"]["serverInfo"]["name"], "pmm");
    }
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    let tools = client.ask("tools/list", json!({}));
    for tool in tools["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        let text = tool.to_string();
        for reference in text.match_indices("#/$defs/").map(|(at, _)| &text[at + 8..]) {
            let name = reference.split('"').next().unwrap();
            assert!(tool["inputSchema"]["$defs"][name].is_object(), "{name} of {text}");
        }
    }
    assert_eq!(client.ask("resources/list", json!({}))["error"]["code"], -32601);
    assert_eq!(client.ask("tools/call", json!({ "name": "dance" }))["error"]["code"], -32602);
    client.say("not json");
    assert_eq!(client.hear()["error"]["code"], -32700);
    client.say("[1]");
    assert_eq!(client.hear()["error"]["code"], -32600);
}

#[test]
fn an_assistant_fits_and_asks() {
    let folder = folder();
    let mut client = Client::new(folder.path(), false);
    let (_, list) = client.call("list", json!({}));
    assert_eq!((&list["models"], &list["data"][0]["name"]), (&json!(["pets"]), &json!("pets.csv")));
    let (_, facts) = client.call("describe", json!({ "model": "pets" }));
    assert_eq!((&facts["kind"], &facts["columns"][0]["name"]), (&json!("table"), &json!("kind")));
    let (is_error, rows) = client
        .call("sample", json!({ "model": "pets", "request": { "count": 5, "given": { "kind": "cat" } } }));
    assert!(!is_error && rows["rows"].as_array().unwrap().iter().all(|row| row[0] == "cat"));
    let table =
        json!({ "columns": ["kind", "legs", "weight"], "rows": [["cat", 4, null], ["bird", 2, 0.3]] });
    let (_, law) = client.call("predict", json!({ "model": "pets", "target": "weight", "table": table }));
    assert_eq!((law["rows"].as_array().unwrap().len(), &law["columns"][0]), (2, &json!("mean")));
    let (_, full) = client.call("impute", json!({ "model": "pets", "table": table }));
    assert!(full["rows"][0][2].is_number() && full["rows"][1] == json!(["bird", 2, 0.3]));
    let (_, scores) = client.call("score", json!({ "model": "pets", "table": table }));
    assert_eq!(scores["rows"].as_array().unwrap().len(), 2);
    let (is_error, problem) =
        client.call("sample", json!({ "model": "pets", "request": { "given": { "kind": "horse" } } }));
    assert!(is_error && problem["column"] == "kind" && problem["value"] == "horse");
    let (is_error, _) = client.call("describe", json!({ "model": "../pets" }));
    assert!(is_error);
    let (is_error, _) = client.call("infill", json!({ "model": "pets", "request": { "text": "____" } }));
    assert!(is_error);

    let (is_error, status) = client.call("fit", common::quick(40));
    assert!(!is_error && status["name"] == "new");
    let begun = std::time::Instant::now();
    while client.call("fit_status", json!({ "model": "new" })).1["state"] != "finished" {
        assert!(begun.elapsed() < common::HANGS);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(!client.call("sample", json!({ "model": "new" })).0);
}

#[test]
fn an_assistant_that_only_reads_fits_nothing() {
    let folder = folder();
    let mut client = Client::new(folder.path(), true);
    let (is_error, problem) = client.call("fit", common::quick(40));
    assert!(is_error && problem["status"] == 403);
    assert!(!folder.path().join("new.pmm").exists());
}
