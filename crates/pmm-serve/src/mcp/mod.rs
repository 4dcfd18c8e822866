//! The same verbs for assistants: tools of the Model Context Protocol, line by line over standard input and output.
//!
//! What the protocol needs of a server of tools is four requests (`initialize`, `ping`, `tools/list`, `tools/call`) of JSON-RPC 2.0;
//! arguments are described by the same types as the requests over HTTP.

mod schema;
mod tools;

use std::io::{BufRead, Read, Write};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::fits::Fits;
use crate::server::StartError;
use crate::shelf::Shelf;
use crate::workspace::Workspace;
use tools::TOOLS;

/// Versions of the protocol that are spoken, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Bytes of a line, at most.
const LONGEST: u64 = 1 << 28;

const INSTRUCTIONS: &str = "Generative models of the data in a folder on this machine: fit one to a table, a text or images; then sample, \
                            predict, impute, score or infill. list says what there is.";

/// The tools of one folder, for an assistant.
#[derive(Debug)]
pub struct Assistant {
    pub(crate) workspace: Workspace,
    pub(crate) shelf: Shelf,
    pub(crate) fits: Fits,
    pub(crate) read_only: bool,
}

/// A request, or a notification, which has no id.
#[derive(Debug, Deserialize)]
struct Message {
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
}

impl Assistant {
    /// The tools of a folder.
    pub fn new(folder: impl AsRef<Path>, read_only: bool) -> Result<Self, StartError> {
        let folder = folder.as_ref();
        let workspace =
            Workspace::open(folder).map_err(|source| StartError::Folder { folder: folder.into(), source })?;
        let fits = Fits::open(&workspace).map_err(StartError::System)?;
        Ok(Self { workspace, shelf: Shelf::default(), fits, read_only })
    }

    /// Answers until the input ends; then fits are stopped, and what they have learned is kept.
    pub fn serve(&self, input: impl Read, mut output: impl Write) -> std::io::Result<()> {
        let mut input = std::io::BufReader::new(input);
        let served = loop {
            let mut line = Vec::new();
            match input.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
                Ok(0) => break Ok(()),
                Err(error) => break Err(error),
                Ok(_) => {}
            }
            if let Some(answer) = self.answer(&line) {
                let sent = writeln!(output, "{answer}").and_then(|()| output.flush());
                if sent.is_err() {
                    break sent;
                }
            }
        };
        self.fits.close();
        served
    }

    /// The answer to a line; none to a notification.
    fn answer(&self, line: &[u8]) -> Option<Value> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        let message = match serde_json::from_slice::<Message>(line) {
            Ok(message) => message,
            Err(error) if error.is_data() => return Some(failure(Value::Null, -32600, &error.to_string())),
            Err(error) => return Some(failure(Value::Null, -32700, &error.to_string())),
        };
        let id = message.id?;
        let Some(method) = message.method else { return Some(failure(id, -32600, "no method")) };
        let result = match method.as_str() {
            "initialize" => initialize(&message.params),
            "ping" => json!({}),
            "tools/list" => json!({ "tools": TOOLS.map(|tool| tool.description()) }),
            "tools/call" => match self.call(&message.params) {
                Ok(result) => result,
                Err(what) => return Some(failure(id, -32602, &what)),
            },
            other => return Some(failure(id, -32601, &format!("there is no method {other}"))),
        };
        Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    /// What a tool says; a problem is an answer, too, which the assistant can act on.
    fn call(&self, params: &Value) -> Result<Value, String> {
        let name = params["name"].as_str().ok_or("no tool is named")?;
        let tool = TOOLS.iter().find(|tool| tool.name == name).ok_or(format!("there is no tool {name}"))?;
        let arguments = match &params["arguments"] {
            Value::Null => json!({}),
            arguments => arguments.clone(),
        };
        let (answer, is_error) = match (tool.run)(self, arguments) {
            Ok(answer) => (answer, false),
            Err(problem) => (json!(problem.within(self.workspace.root())), true),
        };
        let content = json!([{ "type": "text", "text": answer.to_string() }]);
        Ok(json!({ "content": content, "structuredContent": answer, "isError": is_error }))
    }
}

fn initialize(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().unwrap_or("");
    let version = VERSIONS.iter().find(|version| **version == asked).unwrap_or(&VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "pmm", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    })
}

fn failure(id: Value, code: i32, what: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": what } })
}
