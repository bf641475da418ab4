//! A client in the same process: lines to the server, lines from it.

use super::fixture::Fixture;
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use toolsd::mcp::{ServerSettings, serve};

/// What every request of the stateless era brings.
pub fn meta() -> Json {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A client and its server.
pub struct Client {
    /// The host that answers.
    pub host: Arc<Fixture>,
    input: Option<WriteHalf<DuplexStream>>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    server: tokio::task::JoinHandle<()>,
    /// Everything that the server said, in order.
    pub heard: Vec<Json>,
}

impl Client {
    /// Starts a server.
    pub fn start(settings: ServerSettings) -> Self {
        let host = Fixture::new();
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (output, input) = tokio::io::split(ours);
        let (reader, writer) = tokio::io::split(theirs);
        let server = tokio::spawn(serve(host.clone(), settings, reader, writer));
        Self { host, input: Some(input), output: BufReader::new(output).lines(), server, heard: Vec::new() }
    }

    /// Sends a line unchanged.
    pub async fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the input is closed already");
        input.write_all(line.as_bytes()).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }

    /// Sends a request.
    pub async fn request(&mut self, id: i64, method: &str, params: Json) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()).await;
    }

    /// Opens a session.
    pub async fn initialize(&mut self, revision: &str) -> Json {
        let client = json!({ "name": "wire", "version": "1" });
        self.request(0, "initialize", json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client }))
            .await;
        let answer = self.hear().await.expect("an answer to initialize");
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        answer
    }

    /// The next message; nothing if none comes for a while, or none will come.
    pub async fn hear(&mut self) -> Option<Json> {
        let line = tokio::time::timeout(Duration::from_secs(2), self.output.next_line()).await.ok()?.unwrap()?;
        let message: Json = serde_json::from_str(&line).unwrap_or_else(|error| panic!("no JSON: {error}: {line}"));
        self.heard.push(message.clone());
        Some(message)
    }

    /// Whether the server sends nothing for a moment.
    pub async fn is_silent(&mut self) -> bool {
        tokio::time::timeout(Duration::from_millis(80), self.output.next_line()).await.is_err()
    }

    /// Closes the input. Returns what is still sent until the server has ended.
    pub async fn end(mut self) -> Vec<Json> {
        if let Some(mut input) = self.input.take() {
            input.shutdown().await.unwrap();
        }
        let before = self.heard.len();
        while self.hear().await.is_some() {}
        tokio::time::timeout(Duration::from_secs(5), self.server).await.expect("the server ends").unwrap();
        self.heard.split_off(before)
    }
}
