//! Hosts, origins, tokens, addresses.

use crate::support::home::Home;
use crate::support::http::Server;
use crate::{pots, serve};
use serde_json::json;

//= docs/spec.md#http
//= type=test
//# A request for a host or from an origin that is not allowed MUST be refused with status 403.
#[test]
fn foreign_hosts_and_origins_are_refused() {
    let home = pots();
    let server = serve(&home, &["--allow-host", "pots.example", "--allow-origin", "https://app.example"], &[]);
    let status = |name: &str, value: &str| server.ask_with("tools/list", json!({}), &[(name, value)]).status;
    for host in ["evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example"] {
        assert_eq!(status("Host", host), 403, "{host}");
    }
    for host in ["localhost", "127.0.0.1:1", "[::1]:1", "pots.example", "pots.example:443"] {
        assert_eq!(status("Host", host), 200, "{host}");
    }
    for origin in [
        "https://evil.example",
        "null",
        "https://app.example:8443",
        "http://app.example",
        "http://app.example:443",
        "file://",
    ] {
        assert_eq!(status("Origin", origin), 403, "{origin}");
    }
    for origin in ["http://localhost:6274", "http://127.0.0.1", "https://app.example"] {
        assert_eq!(status("Origin", origin), 200, "{origin}");
    }
    for method in ["GET", "DELETE", "OPTIONS"] {
        assert_eq!(server.send(method, &[("Origin", "https://evil.example")], "").status, 403, "{method}");
    }
}

#[test]
fn a_page_of_an_allowed_origin_may_ask_and_read() {
    let home = pots();
    let server = serve(&home, &[], &[("TOOLSD_HTTP_TOKEN", "a-long-enough-secret")]);
    let page = ("Origin", "http://localhost:6274");
    let beforehand = server.send("OPTIONS", &[page, ("Access-Control-Request-Method", "POST")], "");
    assert_eq!(beforehand.status, 204);
    assert_eq!(beforehand.header("access-control-allow-origin"), Some(page.1));
    let reply = server.ask_with("tools/list", json!({}), &[page, ("Authorization", "Bearer a-long-enough-secret")]);
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, Some(page.1)));
    assert_eq!(server.send("OPTIONS", &[], "").status, 401);
}

/// Headers that are sent in place of the usual ones, and the status that every way of a call answers.
const DOOR: [(&[(&str, &str)], u16); 18] = [
    (&[TOKEN], 200),
    (&[TOKEN, ("Host", "pots.example")], 200),
    (&[TOKEN, ("Host", "localhost:1")], 200),
    (&[TOKEN, ("Host", "evil.example")], 403),
    (&[TOKEN, ("Host", "pots.example.evil.example")], 403),
    (&[TOKEN, ("Host", "pots.example:1@evil.example")], 400),
    (&[], 401),
    (&[("Host", "pots.example")], 401),
    (&[("Host", "evil.example")], 403),
    (&[("Authorization", "Bearer another-long-secret")], 401),
    (&[("Authorization", "Basic a-long-enough-secret")], 401),
    (&[("Authorization", "")], 401),
    (&[("Authorization", "Bearer")], 401),
    (&[("Authorization", "Bearer ")], 401),
    (&[("Authorization", "Bearer a-long-enough-secre")], 401),
    (&[("Authorization", "Bearer a-long-enough-secrets")], 401),
    (&[("Authorization", "Bearer A-LONG-ENOUGH-SECRET")], 401),
    (&[("Authorization", "a-long-enough-secret")], 401),
];
const TOKEN: (&str, &str) = ("Authorization", "Bearer a-long-enough-secret");

//= docs/spec.md#http
//= type=test
//# With a token, a request without it MUST be refused with status 401, and its connection MUST be closed.
//= docs/spec.md#http
//= type=test
//# Host, origin and token MUST be checked before anything else of a request, and the token in constant time.
#[test]
fn no_way_of_a_call_goes_past_the_door() {
    let home = pots();
    let server = serve(&home, &["--allow-host", "pots.example"], &[("TOOLSD_HTTP_TOKEN", "a-long-enough-secret")]);
    let params = json!({ "name": "list_pots", "arguments": {} });
    for (headers, status) in DOOR {
        let straight = server.ask_with("tools/call", params.clone(), headers);
        assert_eq!(straight.status, status, "straight {headers:?}: {straight:?}");
        assert_eq!(straight.header("www-authenticate"), (status == 401).then_some("Bearer"), "{headers:?}");
        // A header that may be one of an argument, and an origin, send a call to rmcp.
        for other in [("Mcp-Param-Other", "x"), ("Origin", "http://localhost:6274")] {
            let round = server.ask_with("tools/call", params.clone(), &[headers, &[other]].concat());
            assert_eq!((round.status, &round.body), (status, &straight.body), "{other:?} {headers:?}");
        }
        let foreign = [headers, &[("Origin", "https://evil.example")]].concat();
        let refused = if status == 400 { 400 } else { 403 };
        assert_eq!(server.ask_with("tools/call", params.clone(), &foreign).status, refused, "{foreign:?}");
        let session = server.send("POST", headers, &params.to_string());
        assert!(
            if status == 200 { session.status == 400 } else { session.status == status },
            "{headers:?}: {session:?}"
        );
    }
    for method in ["GET", "DELETE"] {
        assert_eq!(server.send(method, &[], "").status, 401, "{method}");
    }
}

//= docs/spec.md#http
//= type=test
//# `GET /healthz` and `GET /readyz` MUST be answered without a token and for any host, and MUST NOT reveal more than
//# whether calls are answered.
#[test]
fn a_balancer_asks_without_a_token() {
    let token = [("TOOLSD_HTTP_TOKEN", "a-long-enough-secret")];
    let (home, empty) = (pots(), Home::with(&[]));
    let (server, idle) = (serve(&home, &[], &token), Server::start(&empty, &[], &token));
    for host in [("Host", "10.1.2.3:8000"), ("Host", "localhost")] {
        for (server, path, status, body) in [
            (&server, "GET /healthz", 200, "ok\n"),
            (&server, "GET /readyz", 200, "ok\n"),
            (&idle, "GET /healthz", 200, "ok\n"),
            (&idle, "GET /readyz", 503, "Service Unavailable: no pack is served\n"),
            (&server, "HEAD /readyz", 200, ""),
        ] {
            let reply = server.send(path, &[host], "");
            assert_eq!((reply.status, reply.body.as_str()), (status, body), "{path}");
        }
    }
    for path in ["POST /healthz", "GET /healthz/", "GET /"] {
        assert_eq!(server.send(path, &[], "").status, 401, "{path}");
    }
}

//= docs/spec.md#http
//= type=test
//# An address that other machines can reach MUST be refused without a token.
#[test]
fn an_address_of_others_is_refused_without_a_token() {
    let home = pots();
    let refused = |arguments: &[&str], part: &str| {
        let said = home.run(&[&["serve", "--dir", "packs"], arguments].concat());
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(part), "{}", said.err);
    };
    refused(&["--http", "0.0.0.0:0"], "TOOLSD_HTTP_TOKEN");
    refused(&["--http", "[::]:0"], "TOOLSD_HTTP_TOKEN");
    refused(&["--http", "nowhere"], "`nowhere` is not an address");
    refused(&["--http", "127.0.0.1:0", "--allow-origin", "app.example"], "`app.example` is not an origin");
    refused(&["--allow-host", "pots.example"], "--http");
}
