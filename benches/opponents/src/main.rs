//! A typed server on rmcp with the two tools of the bench: `typed-server --transport stdio|pipes|http`.

mod items;

use items::{Item, State, items};
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::transport::{stdio, stdio_pipes};
use rmcp::{ServiceExt, schemars, tool, tool_router};
use std::cmp::Reverse;
use std::sync::Arc;

/// Arguments of `echo`.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    /// Any text
    text: String,
}

/// Result of `stats`.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Stats {
    count: usize,
    sum: i64,
    first: Vec<String>,
}

/// The server and its data.
#[derive(Clone)]
struct Tools {
    items: Arc<Vec<Item>>,
}

#[tool_router(server_handler)]
impl Tools {
    #[tool(description = "Returns the text unchanged.")]
    fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> String {
        text
    }

    #[tool(description = "Of a thousand items: those that are open, heaviest first.")]
    fn stats(&self) -> Json<Stats> {
        let mut open: Vec<&Item> = self.items.iter().filter(|item| item.state == State::Open).collect();
        open.sort_by_key(|item| Reverse(item.weight));
        let sum = open.iter().map(|item| item.amount).sum();
        let first = open.iter().take(5).map(|item| item.key.clone()).collect();
        Json(Stats { count: open.len(), sum, first })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Tools { items: Arc::new(items()) };
    let asked: Vec<String> = std::env::args().skip(1).collect();
    match asked.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["--transport", "stdio"] => tools.serve(stdio()).await?.waiting().await?,
        ["--transport", "pipes"] => tools.serve(stdio_pipes()).await?.waiting().await?,
        ["--transport", "http"] => return serve_http(tools).await,
        _ => return Err("usage: typed-server [--transport stdio|pipes|http]".into()),
    };
    Ok(())
}

/// Serves HTTP at a free port and prints it on stderr.
async fn serve_http(tools: Tools) -> Result<(), Box<dyn std::error::Error>> {
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let service = StreamableHttpService::new(move || Ok(tools.clone()), Arc::<LocalSessionManager>::default(), config);
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("http://{}/mcp", socket.local_addr()?);
    use axum::serve::ListenerExt;
    let socket = socket.tap_io(|stream| drop(stream.set_nodelay(true)));
    Ok(axum::serve(socket, axum::Router::new().nest_service("/mcp", service)).await?)
}
