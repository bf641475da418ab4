//! Lines of JSON-RPC, as a client sends them on standard input: each is answered or passed over, and the connection
//! ends.
#![no_main]

use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use toolsd::call::Service;
use toolsd::mcp::{ServerSettings, serve};

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
static SERVICE: LazyLock<Arc<Service>> = LazyLock::new(toolsd_fuzz::server::service);
const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"fuzz","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((first, lines)) = data.split_first() else { return };
    RUNTIME.block_on(async {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(server);
        let served = tokio::spawn(serve(Arc::clone(&SERVICE) as _, ServerSettings::default(), input, output));
        if first % 2 == 0 {
            client.write_all(HELLO.as_bytes()).await.unwrap();
        }
        client.write_all(lines).await.unwrap();
        client.shutdown().await.unwrap();
        let mut answers = Vec::new();
        let heard = tokio::time::timeout(Duration::from_secs(8), client.read_to_end(&mut answers)).await;
        assert!(heard.is_ok(), "the connection does not end");
        served.await.expect("no panic");
        for line in answers.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            serde_json::from_slice::<serde_json::Value>(line).expect("every answer is JSON");
        }
    });
});
