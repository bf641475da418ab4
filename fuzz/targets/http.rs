//! Bytes of a connection over HTTP, from its head on: the server answers or closes, and serves the next one.
#![no_main]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use toolsd::mcp::{ConnectionLimits, AccessPolicy, HttpSettings, HttpOptions, ServerSettings, serve_http};

/// The port of the server, which runs on a separate thread.
static PORT: LazyLock<u16> = LazyLock::new(|| {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let access = AccessPolicy::new(HttpOptions { address: format!("127.0.0.1:{free}"), ..HttpOptions::default() }).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let http = HttpSettings { access, limits: Some(ConnectionLimits::default()) };
        let same = http.clone();
        let renew = Arc::new(move || Ok(same.clone()));
        runtime.block_on(serve_http(toolsd_fuzz::server::service(), ServerSettings::default(), http, renew)).unwrap();
    });
    while TcpStream::connect(("127.0.0.1", free)).is_err() {
        std::thread::sleep(Duration::from_millis(10));
    }
    free
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut connection = TcpStream::connect(("127.0.0.1", *PORT)).expect("the server listens");
    connection.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
    // It may have closed at the first bytes.
    let _closed = connection.write_all(data).and_then(|()| connection.shutdown(Shutdown::Write));
    let mut answer = vec![0; 1 << 16];
    loop {
        match connection.read(&mut answer) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                panic!("the server neither answers nor closes")
            }
            Err(_) => break,
        }
    }
});
